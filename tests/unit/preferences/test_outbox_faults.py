"""Wherever the process dies, what was kept is sent, once, and nothing half-written is read."""

from __future__ import annotations

import signal as signals
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from judgment.preferences.outbox import Outbox
from tests.architecture.source import ROOT
from tests.fakes.remotes import FileRemote
from tests.unit.preferences.outbox_child import NOW

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-fulcra-outbox", "P3-defect-22")


def child(tmp_path: Path, point: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs one command on the outbox in `tmp_path`."""
    arguments = [str(tmp_path / "root"), str(tmp_path / "remote.json"), point, *command]
    return subprocess.run(
        [sys.executable, "-m", "tests.unit.preferences.outbox_child", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "shared")},
    )


def keys(tmp_path: Path) -> list[str]:
    return sorted(signal.key for signal in FileRemote(tmp_path / "remote.json").kept.values())


@pytest.mark.parametrize("point", ["files.written", "files.replaced"])
def test_dying_while_adding_loses_nothing_that_was_kept_before(tmp_path: Path, point: str) -> None:
    assert child(tmp_path, "none", "add", "a.first").stdout == "added\n"
    died = child(tmp_path, point, "add", "a.second")
    assert (died.returncode, died.stdout) == (-signals.SIGKILL, "")
    assert child(tmp_path, "none", "add", "a.third").stdout == "added\n"
    assert child(tmp_path, "none", "flush").returncode == 0
    whole = ["a.first", "a.second", "a.third"]
    assert keys(tmp_path) == (whole if point == "files.replaced" else ["a.first", "a.third"])
    assert sorted(p.name for p in (tmp_path / "root/outbox").iterdir()) == [".adding", ".sending"]


@pytest.mark.parametrize("point", ["prefs_outbox.sent", "prefs_outbox.buried", "files.replaced"])
def test_dying_after_the_remote_has_answered_sends_again_what_is_the_same_there(
    tmp_path: Path, point: str
) -> None:
    assert child(tmp_path, "none", "add", "a.good", "a.bad").returncode == 0
    outbox = Outbox(tmp_path / "root", lambda: NOW)
    content = (outbox.folder / "000000000001.json").read_text()
    bad = content.partition('"key":"a.bad"')[0].rpartition('"id":"')[2].partition('"')[0]
    died = child(tmp_path, point, "flush", "--", bad)
    assert died.returncode == -signals.SIGKILL, died.stderr
    assert outbox.waiting() == 2
    assert child(tmp_path, "none", "flush", "--", bad).returncode == 0
    assert keys(tmp_path) == ["a.good"]
    assert [letter.id for letter in outbox.dead()] == [bad]
    assert outbox.waiting() == 0


def test_dying_after_a_withdrawal_asks_for_it_again(tmp_path: Path) -> None:
    child(tmp_path, "none", "add", "a.first")
    child(tmp_path, "none", "flush")
    child(tmp_path, "none", "forget", "a.first")
    assert child(tmp_path, "prefs_outbox.withdrawn", "flush").returncode == -signals.SIGKILL
    assert child(tmp_path, "none", "flush").returncode == 0
    assert keys(tmp_path) == []
    assert list((tmp_path / "root/outbox").glob("*.json")) == []


def test_many_processes_that_add_and_flush_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight writers and two senders; the remote here is a file that only one sender writes."""
    commands = [
        [str(tmp_path / "root"), str(tmp_path / "remote.json"), "none", *command]
        for command in [
            *(["add", *(f"w{writer}.k{number}" for number in range(20))] for writer in range(8)),
            ["flush"],
            ["flush"],
        ]
    ]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.unit.preferences.outbox_child", *arguments],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT / "shared")},
        )
        for arguments in commands
    ]
    assert [process.wait(120) for process in running] == [0] * len(running)
    assert child(tmp_path, "none", "flush").returncode == 0
    assert len(keys(tmp_path)) == 160
    arrived = FileRemote(tmp_path / "remote.json").arrivals
    assert len(arrived) == len(set(arrived)) == 160
