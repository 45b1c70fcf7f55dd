"""A stack of its own, killed and stopped: nothing stays behind, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.checkout import ROOT
from infra.local.places import Places
from infra.local.postgres import LocalPostgres
from infra.local.waiting import wait_for
from tests.e2e.running import RunningStack, run_dev

UP_SECONDS = 120.0
GONE_SECONDS = 3.0


@pytest.fixture(scope="module")
def places() -> Iterator[Places]:
    """A state folder of this module."""
    state = Path(tempfile.mkdtemp(prefix="judgment-life-"))
    yield Places(state)
    run_dev("down", "--state", str(state))
    shutil.rmtree(state, ignore_errors=True)


class _Foreground:
    """`./dev up` as a shell runs it."""

    def __init__(self, places: Places):
        self._places = places
        places.stack_file.unlink(missing_ok=True)  # of a supervisor that was killed
        command = [sys.executable, "-m", "infra.local", "up", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--state", str(places.state)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> RunningStack:
        assert wait_for(self._places.stack_file.exists, UP_SECONDS)
        return RunningStack.read(self._places)

    def __exit__(self, *failure: object) -> None:
        self.process.kill()
        self.process.communicate()


def _nothing_left(places: Places) -> bool:
    ports = json.loads(places.ports.read_text()).values()
    return not any(_listens(port) for port in ports) and not _processes(places)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _processes(places: Places) -> list[str]:
    """Living processes that have this state folder in their command line or environment."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name == str(os.getpid()):
            continue
        try:
            shown = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if str(places.state).encode() in shown:
            found.append(folder.name)
    return found


@pytest.mark.promise("P1-accept-1")
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_a_killed_supervisor_leaves_nothing_and_the_next_start_keeps_everything(
    places: Places,
) -> None:
    foreground = _Foreground(places)
    with foreground as first:
        assert _reads(first) == 200
    assert foreground.process.returncode == -signal.SIGKILL
    assert wait_for(lambda: _nothing_left(places), GONE_SECONDS)

    second_foreground = _Foreground(places)
    with second_foreground as second:
        assert second.api_url == first.api_url
        assert second.owners["demo"].agent_key == first.owners["demo"].agent_key
        assert _reads(second) == 200
        with httpx.Client(base_url=second.api_url) as client:
            stale = client.get("/api/v1/keys", headers=first.owners["demo"].headers)
            fresh = client.get("/api/v1/keys", headers=second.owners["demo"].headers)
        assert (stale.status_code, fresh.status_code) == (401, 200)

        _crash_postgres(places)
        assert wait_for(lambda: _reads(second) == 200, GONE_SECONDS * 5)

        second_foreground.process.send_signal(signal.SIGINT)
        assert second_foreground.process.wait(20) == 0
    assert wait_for(lambda: _nothing_left(places), GONE_SECONDS)
    assert not places.stack_file.exists()


def _crash_postgres(places: Places) -> None:
    """End the database server as a crash would; the supervisor starts it again."""
    pid = int((places.postgres / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGQUIT)
    assert wait_for(lambda: not Path(f"/proc/{pid}").exists(), GONE_SECONDS * 5)


def _reads(stack: RunningStack) -> int:
    headers = stack.owners["demo"].agent
    url = f"{stack.api_url}/api/agent/v1/profile"
    answer = httpx.get(url, headers=headers, timeout=30)
    assert answer.status_code in (200, 503)
    return answer.status_code


@pytest.fixture
def somebodys_server(places: Places) -> Iterator[LocalPostgres]:
    """A server of its own: a stack that is given a database sets the passwords of its roles."""
    server = LocalPostgres(places.state / "theirs").start()
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.promise("P1-9")
def test_parts_that_are_given_are_used_and_not_started(
    places: Places, stack: RunningStack, somebodys_server: LocalPostgres
) -> None:
    given = {
        "DATABASE_URL": somebodys_server.url(dbname="postgres"),
        "AWS_ENDPOINT_URL": stack.aws_endpoint_url,
    }
    options = ("--state", str(places.state / "given"))
    up = run_dev("up", "--detach", "--port", "0", *options, **given)
    assert up.returncode == 0, up.stderr
    try:
        other = RunningStack.read(Places(places.state / "given"))
        assert (other.database_url, other.aws_endpoint_url) == tuple(given.values())
        assert _reads(other) == 200
        parts = json.loads(other.places.children.read_text())
        assert set(parts) == {"gateway"}
        assert not other.places.postgres.exists()
    finally:
        run_dev("down", *options)


@pytest.mark.promise("P1-9")
def test_a_detached_stack_is_started_once_and_stopped_by_down(places: Places) -> None:
    options = ("--state", str(places.state))
    up = run_dev("up", "--detach", "--port", "0", *options)
    assert up.returncode == 0, up.stderr
    stack = RunningStack.read(places)
    assert stack.owners["demo"].agent_key in up.stdout
    assert stack.owners["demo"].agent_key not in (places.logs / "supervisor.log").read_text()

    again = run_dev("up", "--detach", "--port", "0", *options)
    assert (again.returncode, stack.api_url in again.stdout) == (0, True)
    foreground = run_dev("up", "--port", "0", *options)
    assert foreground.returncode == 1
    assert "already running" in foreground.stderr

    assert run_dev("down", *options).stdout == "stopped\n"
    assert wait_for(lambda: _nothing_left(places), GONE_SECONDS)
    assert run_dev("down", *options).stdout == "nothing is running\n"
