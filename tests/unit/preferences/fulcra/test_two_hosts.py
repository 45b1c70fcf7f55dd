"""The command itself on two machines of one account: what is said on one is known on the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.source import ROOT
from tests.fakes.fulcra_login import SECRET
from tests.fakes.fulcra_server import Trouble

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.fulcra_server import FulcraServer

pytestmark = pytest.mark.promise("P3-fulcra", "P3-fulcra-outbox")

CODE = "import sys; from judgment.cli.main import prefs; sys.exit(prefs())"


@dataclass
class Machine:
    """A home of its own, signed in to the account."""

    home: Path
    server: FulcraServer

    def prefs(self, *words: str, code: int = 0) -> Any:
        """What the command prints, as JSON; nothing it says may hold a credential."""
        done = subprocess.run(
            [sys.executable, "-c", CODE, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "PYTHONPATH": str(ROOT / "shared"),
                "JUDGMENT_PREFS_STORE": "fulcra",
                "FULCRA_OIDC_AUDIENCE": self.server.audience,
                "FULCRA_OIDC_DOMAIN": "127.0.0.1:9",
            },
        )
        assert done.returncode == code, done.stderr
        assert SECRET not in done.stdout + done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def capture(self, key: str, value: str, code: int = 0) -> Any:
        """One statement."""
        words = ("--key", key, "--value", json.dumps(value), "--strength", "0.8")
        return self.prefs("capture", *words, "--platform", "codex", code=code)


@pytest.fixture
def machines(tmp_path: Path, server: FulcraServer) -> list[Machine]:
    made = [Machine(tmp_path / name, server) for name in ("laptop", "desktop")]
    for machine in made:
        tokens = server.sessions.issue()
        del tokens["refresh_token"]
        folder = machine.home / ".config/fulcra"
        folder.mkdir(parents=True)
        (folder / "credentials.json").write_text(json.dumps(tokens))
    return made


def test_what_is_said_on_one_machine_holds_on_the_other(
    machines: list[Machine], server: FulcraServer
) -> None:
    laptop, desktop = machines
    laptop.prefs("onboard")
    desktop.prefs("onboard")
    assert len(server.account.types) == 1
    laptop.capture("tone.length", "short")
    desktop.prefs("compile")
    assert desktop.prefs("get", "tone.length")["keys"]["tone.length"]["value"] == "short"
    uploads = server.count("POST", "/signed/")
    laptop.prefs("compile")
    assert server.count("POST", "/signed/") == uploads


def test_what_is_said_in_an_outage_is_kept_and_arrives_later(
    machines: list[Machine], server: FulcraServer
) -> None:
    laptop, desktop = machines
    laptop.prefs("onboard")
    server.trouble.append(Trouble("/ingest/", 503))
    laptop.capture("tone.length", "short")
    assert server.account.records == {}
    assert "503" in laptop.prefs("compile", code=1)["trouble"]
    assert laptop.prefs("get", "tone.length")["keys"]["tone.length"]["value"] == "short"
    server.trouble.clear()
    laptop.prefs("compile")
    desktop.prefs("onboard")
    desktop.prefs("compile")
    assert desktop.prefs("get", "tone.length")["keys"]["tone.length"]["value"] == "short"


@pytest.mark.promise("P3-defect-05")
def test_what_the_account_declines_is_no_success(
    machines: list[Machine], server: FulcraServer
) -> None:
    laptop, _ = machines
    laptop.prefs("onboard")
    server.trouble.append(Trouble("/ingest/", 422))
    laptop.capture("tone.length", "short", code=1)
    asked = server.count("POST", "/ingest/")
    laptop.prefs("compile")
    assert server.count("POST", "/ingest/") == asked
