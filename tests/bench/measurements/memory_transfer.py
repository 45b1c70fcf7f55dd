"""What it takes to bring a memory with a long history, and to take it along, beside git alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from infra.local.issuer import LocalIssuer
from infra.local.places import Places
from tests.bench.accounting import memory_mb
from tests.bench.report import Budget, Section, Table
from tests.bench.rounds import by_own_clock
from tests.bench.series import Series, ratio
from tests.bench.workbench import STATE, BenchFailed, Workbench
from tests.fakes.memory_roots import git

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES, REVISIONS, PAGES = 1_000, 10_000, 20
IMPORT, EXPORT = "judgment memory import", "judgment memory export"
CLONE, COPY = "git clone, objects copied", "git fast-export into git fast-import"
ENTRY = """
import sys
from pathlib import Path
from judgment.cli.main import main
status = main()
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM:")), file=sys.stderr)
sys.exit(status)
"""
# The peak that getrusage tells begins with that of the process it was forked from.
LIMIT = 10
WHAT = f"import of {REVISIONS:,} revisions over git clone of the same repository"


def measure(bench: Workbench) -> Section:
    """Each round an owner of its own brings the root and takes the memory along."""
    with tempfile.TemporaryDirectory() as folder:
        transfer = _Transfer(bench, Path(folder))
        found = by_own_clock(
            {
                IMPORT: transfer.bring,
                EXPORT: transfer.take,
                CLONE: transfer.clone,
                COPY: transfer.copy,
            },
            max(3, bench.rounds // 5),
        )
        return _section(found, transfer)


@dataclass
class _Transfer:
    """One root, and folders to put things into. Each case gives its milliseconds."""

    bench: Workbench
    folder: Path
    count: int = 0
    token: str = ""
    megabytes: dict[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        _build(self.root)
        self.megabytes["the root"] = _size(self.root)
        self.megabytes["its .git"] = _size(self.root / ".git")

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def bring(self) -> float:
        """Import as a new owner."""
        _ = self.bench.stack
        config = json.loads((STATE / "gateway.json").read_text())
        self.token = LocalIssuer(Places(STATE).issuer, config["issuer_url"]).token(uuid4())
        return self._ours("import", str(self.root))

    def take(self) -> float:
        """Export what this owner imported; before anybody did, a new one's."""
        if not self.token:
            self.bring()
        return self._into(lambda place: self._ours("export", str(place)))

    def clone(self) -> float:
        """What git does with the repository alone."""
        words = ("clone", "--quiet", "--no-local", str(self.root))
        return self._into(lambda place: _timed(lambda: git(self.folder, *words, str(place))))

    def copy(self) -> float:
        """Every revision told and written anew, as an import and an export do."""

        def copied(place: Path) -> None:
            git(self.folder, "init", "--quiet", str(place))
            told = git(self.root, "fast-export", "--all")
            git(place, "fast-import", "--quiet", stdin=told)

        return self._into(lambda place: _timed(lambda: copied(place)))

    def _into(self, put: Callable[[Path], float]) -> float:
        self.count += 1
        return put(self.folder / f"new-{self.count}")

    def _ours(self, *words: str) -> float:
        environment = {
            **os.environ,
            "SYNC_API_URL": self.bench.stack["api_url"],
            "SYNC_OWNER_TOKEN": self.token,
        }
        environment.pop("JUDGMENT_STACK", None)
        command = [sys.executable, "-c", ENTRY, "memory", *words]
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        taken = time.perf_counter() - began
        if done.returncode:
            raise BenchFailed(done.stderr.decode(errors="replace")[-2_000:])
        commits = json.loads(done.stdout)["history"]["commits"]
        if commits < REVISIONS:
            raise BenchFailed(f"{words[0]}: {commits} commits")
        peak = int(done.stderr.split()[-1]) / 1024
        what = f"peak memory of the command: {words[0]}"
        self.megabytes[what] = max(peak, self.megabytes.get(what, 0))
        return taken * 1_000


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1_000


def _build(root: Path) -> None:
    """A repository of so many files, each written anew again and again."""
    root.mkdir()
    git(root, "init", "--quiet")
    told: list[bytes] = []
    for number in range(REVISIONS):
        place = number % FILES
        path = f"documents/page-{place % PAGES}/note-{place}.md".encode()
        text = "".join(f"Line {line} of version {number}.\n" for line in range(40)).encode()
        told.append(
            b"commit refs/heads/main\ncommitter Owner <owner@judgment.invalid> %d +0000\n"
            b"data 5\nWrite\nM 100644 inline %s\ndata %d\n%s\n"
            % (1_700_000_000 + number, path, len(text), text)
        )
    git(root, "fast-import", "--quiet", stdin=b"".join(told))
    git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    git(root, "reset", "--quiet", "--hard")


def _size(folder: Path) -> float:
    """Megabytes of the files below a folder."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1e6


def _section(found: Mapping[str, Series], transfer: _Transfer) -> Section:
    rows = tuple(
        (name, f"{one.wall / 1e3:.1f}", f"{one.quiet / 1e3:.1f}") for name, one in found.items()
    )
    stack = memory_mb(transfer.bench.supervisor)
    sizes = (
        *((what, f"{size:.1f}") for what, size in transfer.megabytes.items()),
        ("memory of the whole stack afterwards", f"{stack:.1f}"),
    )
    over = ratio(found[IMPORT].wall_ms, found[CLONE].wall_ms)
    return Section(
        "A memory comes and goes",
        f"{FILES:,} files with {REVISIONS:,} revisions, as a git repository. The command line reads"
        " it, sends it to the running stack in parts, and has it carried out in one transaction;"
        " an export fetches every revision in pages and writes a repository of them.",
        tables=(
            Table(("what", "wall s", "quietest"), rows),
            Table(("what", "MB"), sizes),
        ),
        budgets=(
            Budget(
                WHAT,
                f"≤ {LIMIT} x",
                f"{over.middle:.1f} x ({over.low:.1f}-{over.high:.1f})",
                over.middle <= LIMIT,
            ),
        ),
    )
