"""The small parts of the stack: settings, ports, the lock, names shared with the deployment."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra.catalogue import CATALOGUE
from infra.checkout import ROOT
from infra.local.children import Child, ChildFailed
from infra.local.lock import AlreadyRunning, end_holder, held, is_held
from infra.local.places import Places
from infra.local.ports import remembered_ports
from infra.local.provision import BUS, MODEL_SECRETS, SESSION_SECRET, aws_environment
from infra.local.retention import LOG_BYTES, forget_long_logs, forget_old_lines
from infra.local.settings import SettingMissing, environments, stack_settings
from infra.local.waiting import wait_for

_GIVEN = {
    **stack_settings("http://127.0.0.1:1", "http://127.0.0.1:2"),
    **{table.setting: table.name for table in CATALOGUE.tables},
    "EVENT_BUS_NAME": BUS,
    "SESSION_SECRET_ID": SESSION_SECRET,
    "MODEL_SECRET_PREFIX": MODEL_SECRETS,
    **{queue.setting: queue.name for queue in CATALOGUE.queues},
}


def _url(role: str) -> str:
    return f"postgresql://{role}@/judgment"


@pytest.mark.promise("P1-9")
def test_every_door_gets_the_settings_of_its_row_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {name for door in CATALOGUE.doors for name in door.optional}:
        monkeypatch.delenv(name, raising=False)
    shared = {*aws_environment(""), "HOME", "TMPDIR", "PATH", "POWERTOOLS_SERVICE_NAME"}
    network = {"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "NO_PROXY"}
    found = environments(CATALOGUE, _GIVEN, _url, endpoint="http://x", places=Places(tmp_path))
    for door in CATALOGUE.doors:
        got = set(found[door.name]) - (network if door.egress == "internet" else set())
        assert got == shared | set(door.required)
        if door.database_role:
            assert door.database_role in found[door.name]["DATABASE_URL"]


def test_a_setting_that_an_operator_may_set_is_handed_to_the_doors_that_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUMMARY_WINDOW_SECONDS", "5")
    found = environments(CATALOGUE, _GIVEN, _url, endpoint="http://x", places=Places(tmp_path))
    told = {name for name, given in found.items() if given.get("SUMMARY_WINDOW_SECONDS") == "5"}
    assert told == {d.name for d in CATALOGUE.doors if "SUMMARY_WINDOW_SECONDS" in d.optional}
    assert "rounds" in told


def test_a_setting_that_nothing_provides_is_named(tmp_path: Path) -> None:
    door = replace(CATALOGUE.doors[0], settings=("NOT_THERE",))
    catalogue = replace(CATALOGUE, doors=(door,))
    with pytest.raises(SettingMissing, match=f"{door.name} wants NOT_THERE"):
        environments(catalogue, _GIVEN, _url, endpoint="http://x", places=Places(tmp_path))


def test_ports_stay_the_same_until_somebody_else_takes_one(tmp_path: Path) -> None:
    path = tmp_path / "ports.json"
    first = remembered_ports(path, {"a": 0, "b": 0})
    assert remembered_ports(path, {"a": 0, "b": 0}) == first
    assert first["a"] != first["b"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first["a"]))
        taken.listen()
        second = remembered_ports(path, {"a": first["a"], "b": 0})
    assert second["a"] != first["a"]
    assert second["b"] == first["b"]


@pytest.mark.promise("R-33")
def test_wire_lines_are_kept_thirty_days_and_long_logs_are_emptied(tmp_path: Path) -> None:
    wire = tmp_path / "wire.jsonl"
    days = {"old": "30/Oct/2026:11:59:59 +0000", "young": "31/Oct/2026:12:00:01 +0000"}
    lines = [json.dumps({"time": when, "user_id": who}) for who, when in days.items()]
    wire.write_text("\n".join([*lines, "half a li"]) + "\n")
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert forget_old_lines(wire, now) == 2
    assert [json.loads(line)["user_id"] for line in wire.read_text().splitlines()] == ["young"]
    assert forget_old_lines(wire, now) == 0
    assert forget_old_lines(tmp_path / "absent.jsonl", now) == 0

    (tmp_path / "long.log").write_bytes(b"x" * (LOG_BYTES + 1))
    (tmp_path / "short.log").write_bytes(b"short")
    forget_long_logs(tmp_path)
    assert (tmp_path / "long.log").read_bytes() == b""
    assert (tmp_path / "short.log").read_bytes() == b"short"


def test_a_state_folder_has_one_supervisor_and_the_kernel_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "supervisor.pid"
    assert not is_held(path)
    with held(path):
        assert is_held(path)
        assert path.read_text() == str(os.getpid())
        with pytest.raises(AlreadyRunning), held(path):
            pass
    assert not is_held(path)
    assert end_holder(path) is False


_HOLDER = """
import sys, time
from pathlib import Path
from infra.local.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_down_ends_the_holder_of_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "supervisor.pid"
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert end_holder(path) is True
        assert holder.wait(10) != 0
    assert not is_held(path)


def test_a_child_that_ends_by_itself_is_reported_with_its_last_words(tmp_path: Path) -> None:
    child = Child(
        "part",
        [sys.executable, "-c", "print('the disk is full'); raise SystemExit(7)"],
        environ={},
        log=tmp_path / "part.log",
        folder=tmp_path,
    )
    child.start()
    child.wait(10)
    with pytest.raises(ChildFailed, match=r"part ended with 7:\nthe disk is full"):
        child.ensure_running()


def test_a_child_that_ignores_the_request_to_stop_is_killed(tmp_path: Path) -> None:
    script = "import signal,time; signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(60)"
    child = Child(
        "deaf",
        [sys.executable, "-u", "-c", script],
        environ={},
        log=tmp_path / "deaf.log",
        folder=tmp_path,
        stop_seconds=0.2,
    )
    child.start()
    assert wait_for(lambda: "up" in child.log.read_text(), 10.0)
    child.stop()
    assert child.pid is None
    child.stop()
