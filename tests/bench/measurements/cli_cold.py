"""What a start of `prefs` costs: CPU over a bare interpreter, and what installing it brings."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from judgment.kit.clock import utc_now
from judgment.preferences.local.store import LocalStore
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.bench.series import Spread
    from tests.bench.workbench import Workbench

KEYS = 200
MORE_MS = 100.0
BARE = "python -c pass"
BUDGETED = ("prefs inject", "prefs get", "prefs --help")
WORDS: dict[str, tuple[str, ...]] = {
    "prefs inject": ("inject", "--platform", "codex", "--format", "hook"),
    "prefs get": ("get",),
    "prefs --help": ("--help",),
    "prefs get, for an audience": ("get", "--for", "bob"),
    "prefs notice": (
        *("notice", "--key", "tone", "--value", '"short"', "--strength", "0.8"),
        *("--platform", "codex", "--session", "s1"),
    ),
}
NOT_RUN = "not run"


def measure(bench: Workbench) -> Section:
    """Fresh processes in turn; their CPU as the kernel accounts it, less a bare start."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        environment = {**os.environ, "JUDGMENT_PREFS_DIR": str(_filled(folder))}
        environment.pop("JUDGMENT_PREFS_STORE", None)
        cases = [_case(BARE, ("-c", "pass"), environment)]
        cases += [_case(name, (_program(), *words), environment) for name, words in WORDS.items()]
        found = interleave(cases, bench.rounds, cpu=_children_cpu)
        brought = _brought(folder / "install", bench.root)
        return _section(found, brought, environment)


def _filled(folder: Path) -> Path:
    store = LocalStore(folder / "prefs", utc_now)
    heard = {"platform": "codex", "session": "s"}
    store.append(
        [
            {
                "key": f"area{n % 20}.topic.key{n}",
                "value": f"value {n}",
                "strength": 0.5,
                "source": {**heard, "sequence": n},
            }
            for n in range(KEYS)
        ]
    )
    store.compile()
    store.decide({"effect": "allow", "key_glob": "*", "audience": "bob"})
    return folder / "prefs"


def _program() -> str:
    """The script that an installation puts beside its Python."""
    return str(Path(sys.executable).with_name("prefs"))


def _case(name: str, words: tuple[str, ...], environment: Mapping[str, str]) -> Case:
    def once() -> None:
        subprocess.run(
            [sys.executable, *words], env=environment, check=True, stdout=subprocess.DEVNULL
        )

    return Case(name, once, calls=1)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _over(found: Mapping[str, Series], name: str) -> Spread:
    return difference(found[name].cpu_ms, found[BARE].cpu_ms)


def _section(
    found: Mapping[str, Series], brought: tuple[tuple[str, str], ...], environment: dict[str, str]
) -> Section:
    budgets = tuple(_budget(name, _over(found, name)) for name in BUDGETED)
    rows = tuple(
        (name, f"{one.cpu:.0f}", f"{one.wall:.0f}", f"{_over(found, name).middle:.0f}")
        for name, one in found.items()
    )
    late = {name: _imports(name, environment) for name in BUDGETED if missed(budgets)}
    return Section(
        "Starting `prefs`",
        f"Fresh processes with warm byte code, one after the other in turn, over {KEYS} compiled "
        "preferences. CPU is user plus system time. `inject` writes the hook's JSON; `get` the "
        "whole document; with an audience consent is checked and the ledger written.",
        tables=(
            Table(("start of", "CPU ms", "wall ms", "CPU ms over bare"), rows),
            Table(("what `uv tool install` of the base package brings", "size"), brought),
        ),
        budgets=budgets,
        profiles=late,
    )


def _budget(name: str, over: Spread) -> Budget:
    return Budget(
        f"CPU of `{name}` over `{BARE}`, median",
        f"≤ {MORE_MS:.0f} ms more",
        f"{over.middle:.0f} ms ({over.low:.0f}-{over.high:.0f})",
        over.middle <= MORE_MS,
    )


def _imports(name: str, environment: dict[str, str]) -> str:
    """The modules whose own import costs most, as the interpreter times them."""
    said = subprocess.run(
        [sys.executable, "-X", "importtime", _program(), *WORDS[name]],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stderr.splitlines()
    rows = [line.removeprefix("import time:").split("|") for line in said if "|" in line]
    timed = sorted((int(own), name) for own, _, name in rows if own.strip().isdigit())
    return "\n".join(f"{own:8}  {name.strip()}" for own, name in timed[:-21:-1])


def _brought(folder: Path, root: Path) -> tuple[tuple[str, str], ...]:
    """A wheel is built and put into an environment of its own with the locked versions of what
    it needs; without a network, or a cache of them, this is not run."""
    uv = _uv(root)
    if uv is None:
        return (("", NOT_RUN),)
    python = folder / "venv" / "bin" / "python"
    constraints = folder / "constraints.txt"
    folder.mkdir()
    pinned = re.findall(r"^[\w.-]+==[^\s;\\]+", (root / "requirements.lock").read_text(), re.M)
    constraints.write_text("\n".join(pinned))
    try:
        _run(uv, "build", "--wheel", "--quiet", "--out-dir", str(folder), str(root))
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(python.parents[1]))
        packages = next((python.parents[1] / "lib").glob("python*/site-packages"))
        before = _size(packages)
        wheel = next(folder.glob("*.whl"))
        pinning = ("--constraint", str(constraints), "--python", str(python))
        _run(uv, "pip", "install", "--quiet", "--link-mode=copy", *pinning, str(wheel))
    except (subprocess.SubprocessError, OSError, StopIteration):
        return (("", NOT_RUN),)
    others = sorted(one.name.partition("-")[0] for one in packages.glob("*.dist-info"))
    return (
        ("the wheel", f"{wheel.stat().st_size / 1e6:.1f} MB"),
        ("installed, of which ours", f"{_size(packages / 'judgment') / 1e6:.1f} MB"),
        (f"installed, all {len(others)} packages", f"{(_size(packages) - before) / 1e6:.1f} MB"),
        ("packages", ", ".join(others)),
    )


def _uv(root: Path) -> str | None:
    own = root / ".local" / "uv" / "bin" / "uv"
    return str(own) if own.exists() else shutil.which("uv")


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=300)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
