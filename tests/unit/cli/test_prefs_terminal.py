"""A bar for whoever watches a long import, on a real terminal, and for nobody else."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.unit.cli.homes import ENTRY, Home, item
from tests.unit.cli.hosted_api import TOKEN, Api

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-cli", "001-cli")


def _batch(folder: Path, count: int) -> str:
    path = folder / f"{count}.jsonl"
    path.write_text("\n".join(json.dumps(item(f"key.n{n}", n)) for n in range(count)))
    return str(path)


def _on_a_terminal(home: Home, *words: str) -> tuple[str, str]:
    """What went to stdout, and what the terminal on stderr was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**home.environment(), "TERM": "xterm"},
    )
    os.close(theirs)
    shown = bytearray()
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # how a terminal says that the other end has gone
        pass
    os.close(ours)
    out = process.communicate()[0]
    assert process.returncode == 0
    return out, shown.decode()


def _words(path: str) -> tuple[str, ...]:
    return ("capture-batch", "--platform", "codex", "--file", path)


def test_a_long_import_shows_a_bar_and_its_result_stays_json(home: Home, tmp_path: Path) -> None:
    out, shown = _on_a_terminal(home, *_words(_batch(tmp_path, 600)))
    assert "Checking" in shown
    assert "100%" in shown
    assert json.loads(out)["captured"] == 600


def test_a_long_way_to_the_api_shows_a_bar_of_its_own(tmp_path: Path) -> None:
    with Api() as api:
        settings = {"SYNC_API_URL": api.url, "SYNC_OWNER_TOKEN": TOKEN}
        home = Home(tmp_path, {"JUDGMENT_PREFS_STORE": "hosted", **settings})
        out, shown = _on_a_terminal(home, *_words(_batch(tmp_path, 600)))
        assert len(api.signals) == 600
        assert api.count("POST", "/signals") == 6
    assert "Sending" in shown
    assert json.loads(out)["state"] == "sent"


def test_a_short_import_shows_none(home: Home, tmp_path: Path) -> None:
    out, shown = _on_a_terminal(home, *_words(_batch(tmp_path, 499)))
    assert shown == ""
    assert json.loads(out)["captured"] == 499


def test_without_a_terminal_there_is_none(home: Home, tmp_path: Path) -> None:
    said = home.process(*_words(_batch(tmp_path, 600)))
    assert said.err == ""
    assert said.json["captured"] == 600
