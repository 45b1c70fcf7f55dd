"""A person's home folder, and `prefs` run in it as that person would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from judgment.cli.commands import prefs as program
from judgment.kit.clock import utc_now
from judgment.preferences.local.store import LocalStore
from tests.architecture.source import ROOT

ENTRY = "import sys; from judgment.cli.main import prefs; sys.exit(prefs())"
UNSET = (
    *("JUDGMENT_PREFS_STORE", "XDG_DATA_HOME", "JUDGMENT_STACK", "JUDGMENT_STACK_OWNER"),
    *("SYNC_API_URL", "SYNC_API_KEY", "SYNC_OWNER_TOKEN", "_PREFS_COMPLETE"),
)


@dataclass(frozen=True)
class Said:
    """What a command wrote, and its exit status."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it wrote to stdout, which is JSON and nothing else."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Home:
    """`settings` are added to the environment."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def root(self) -> Path:
        """Where the preferences lie."""
        return self.folder / "prefs"

    @property
    def store(self) -> LocalStore:
        """The local store that the commands work on."""
        return LocalStore(self.root, utc_now)

    @property
    def _set(self) -> dict[str, str]:
        mine = {"HOME": str(self.folder), "JUDGMENT_PREFS_DIR": str(self.root)}
        return {**mine, **self.settings}

    def environment(self) -> dict[str, str]:
        """Of a process of its own."""
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "shared"), **self._set}

    def prefs(self, *words: str, code: int | None = 0, stdin: str | bytes = "") -> Said:
        """Run it by click in this process. Nothing but an exit may come out of it; None: any."""
        environment = {**dict.fromkeys(UNSET), **self._set}
        found = CliRunner().invoke(program, list(words), input=stdin, env=environment)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        said = Said(found.exit_code, found.stdout, found.stderr)
        assert code in (said.code, None), said
        assert "Traceback" not in said.err
        return said

    def process(self, *words: str, code: int = 0, stdin: str = "") -> Said:
        """Run it as a process."""
        done = subprocess.run(
            [sys.executable, "-c", ENTRY, *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env=self.environment(),
        )
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        return Said(done.returncode, done.stdout, done.stderr)

    def started(self, *words: str, code: str = ENTRY) -> subprocess.Popen[str]:
        """Begin it as a process, with nothing on stdin."""
        return subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
        )

    def capture(self, key: str, value: Any, *more: str, code: int = 0) -> Any:
        """Capture a wish heard on codex; what the command says of it."""
        return self.prefs("capture", *stated(key, value), *more, code=code).json

    def value(self, key: str, *more: str) -> Any:
        """What holds for a key; None where nothing does."""
        found = self.prefs("get", key, *more).json["keys"]
        return found[key]["value"] if key in found else None


def stated(key: str, value: Any, strength: str = "0.8", platform: str = "codex") -> list[str]:
    """The options of a statement."""
    given = {"--key": key, "--value": json.dumps(value), "--strength": strength}
    return [word for pair in {**given, "--platform": platform}.items() for word in pair]


def item(key: str, value: Any, **more: Any) -> dict[str, Any]:
    """A statement of a batch."""
    return {"key": key, "value": value, "strength": 0.8, **more}
