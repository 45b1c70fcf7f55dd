"""What was forgotten here does not come back from the account, whatever the account still holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.fakes.fulcra_server import FulcraServer, Trouble
from tests.unit.cli.homes import Home

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-fulcra", "P3-fulcra-outbox", "P3-refuse")


@pytest.fixture
def server() -> Iterator[FulcraServer]:
    with FulcraServer() as running:
        yield running


def _machine(folder: Path, server: FulcraServer) -> Home:
    tokens = server.sessions.issue()
    del tokens["refresh_token"]
    credentials = folder / ".config/fulcra/credentials.json"
    credentials.parent.mkdir(parents=True)
    credentials.write_text(json.dumps(tokens))
    settings = {
        "JUDGMENT_PREFS_STORE": "fulcra",
        "FULCRA_OIDC_AUDIENCE": server.audience,
        "FULCRA_OIDC_DOMAIN": "127.0.0.1:9",
    }
    return Home(folder, settings)


@pytest.fixture
def laptop(tmp_path: Path, server: FulcraServer) -> Home:
    home = _machine(tmp_path / "laptop", server)
    home.process("onboard")
    return home


@pytest.fixture
def desktop(tmp_path: Path, server: FulcraServer) -> Home:
    home = _machine(tmp_path / "desktop", server)
    home.process("onboard")
    return home


def _held(home: Home) -> set[str]:
    return set(home.process("get").json["keys"])


def _capture(home: Home, key: str, *more: str) -> None:
    words = ("--key", key, "--value", '"x"', "--strength", "0.8", "--platform", "codex")
    home.process("capture", *words, *more)


def test_a_pull_does_not_bring_back_what_was_forgotten_out_of_reach(
    laptop: Home, server: FulcraServer
) -> None:
    _capture(laptop, "health.secret")
    _capture(laptop, "health.secret", "--observed-at", "2999-01-01T00:00:00Z")
    _capture(laptop, "tone")
    server.trouble.append(Trouble("/ingest/", 503))
    said = laptop.process("forget", "health.secret", "--yes").json
    assert said["signals"] == 2
    assert "503" in said["trouble"]
    assert laptop.process("compile", code=1).json["received"] == 0
    assert _held(laptop) == {"tone"}
    server.trouble.clear()
    laptop.process("compile")
    assert len(server.account.deleted) == 2
    assert _held(laptop) == {"tone"}
    kept = (laptop.root / "meta.json").read_text()
    assert "health.secret" not in kept


def test_what_another_machine_says_of_the_key_later_is_heard(laptop: Home, desktop: Home) -> None:
    _capture(laptop, "tone")
    laptop.process("forget", "tone", "--yes")
    _capture(desktop, "tone")
    assert laptop.process("compile").json["received"] == 1
    assert _held(laptop) == {"tone"}


def test_what_another_machine_had_said_before_is_not(
    laptop: Home, desktop: Home, server: FulcraServer
) -> None:
    _capture(laptop, "tone")
    server.trouble.append(Trouble("/ingest/", 503))
    _capture(desktop, "tone")
    laptop.process("forget", "tone", "--yes")
    server.trouble.clear()
    desktop.process("compile")
    assert laptop.process("compile").json["received"] == 0
    assert _held(laptop) == set()


@pytest.mark.promise("001-onboard")
def test_whoever_has_not_signed_in_is_told_how_and_loses_nothing(
    tmp_path: Path, server: FulcraServer
) -> None:
    home = _machine(tmp_path / "new", server)
    (home.folder / ".config/fulcra/credentials.json").unlink()
    said = home.process("onboard", code=1)
    assert "fulcra auth login" in said.err
    _capture(home, "tone")
    assert _held(home) == {"tone"}
    assert "fulcra auth login" in home.process("compile", code=1).err
    forgotten = home.process("forget", "tone", "--yes").json
    assert "fulcra auth login" in forgotten["trouble"]
