"""The bundled server survives what development machines do to it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.local.postgres import LocalPostgres, PostgresFailed
from infra.local.postgres_host import find_binaries
from infra.local.waiting import wait_for

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = [pytest.mark.promise("P1-9")]


@pytest.fixture
def home() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="judgment-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def _answer(server: LocalPostgres) -> int:
    with psycopg.connect(server.url(dbname="postgres")) as connection:
        row = connection.execute("SELECT 41 + 1").fetchone()
    assert row
    return int(row[0])


def _gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] == "Z"


def test_it_serves_over_tcp_and_socket_and_refuses_a_wrong_password(home: Path) -> None:
    server = LocalPostgres(home / "pg").start()
    try:
        assert _answer(server) == 42
        with psycopg.connect(server.url(dbname="postgres", via="socket")) as connection:
            assert connection.execute("SHOW max_connections").fetchone() == ("200",)
        wrong = server.url(dbname="postgres").replace(server.password, "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)
        local = server.url(dbname="postgres", via="socket").replace(server.password, "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(local)
    finally:
        server.stop()


def test_data_survive_a_restart_and_a_lost_password_file(home: Path) -> None:
    server = LocalPostgres(home / "pg").start()
    server.ensure_database("kept")
    server.ensure_database("kept")
    server.stop()
    (home / "pg.password").unlink()
    again = LocalPostgres(home / "pg").start()
    try:
        assert again.password != server.password
        with psycopg.connect(again.url(dbname="kept")) as connection:
            assert connection.execute("SELECT current_database()").fetchone() == ("kept",)
    finally:
        again.stop()


def test_it_recovers_after_the_server_was_killed(home: Path) -> None:
    server = LocalPostgres(home / "pg").start()
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    again = LocalPostgres(home / "pg").start()
    try:
        assert server.pid is None
        assert _answer(again) == 42
    finally:
        again.stop()


def test_what_was_committed_survives_a_kill_at_once(home: Path) -> None:
    server = LocalPostgres(home / "pg").start()
    assert server.pid
    with psycopg.connect(server.url(dbname="postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        for n in range(50):
            connection.execute("INSERT INTO kept VALUES (%s)", (n,))
        os.kill(server.pid, signal.SIGKILL)
    again = LocalPostgres(home / "pg").start()
    try:
        assert server.pid is None
        with psycopg.connect(again.url(dbname="postgres")) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (50,)
    finally:
        again.stop()


def test_it_is_not_misled_by_a_pid_that_belongs_to_another_process(home: Path) -> None:
    server = LocalPostgres(home / "pg").start()
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    assert wait_for(lambda: server.pid is None, 10.0)
    pid_file = home / "pg" / "postmaster.pid"
    lines = pid_file.read_text().split("\n")
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    again = LocalPostgres(home / "pg").start()
    try:
        assert _answer(again) == 42
    finally:
        again.stop()


def test_it_takes_over_from_a_server_that_an_earlier_supervisor_left(home: Path) -> None:
    first = LocalPostgres(home / "pg").start()
    second = LocalPostgres(home / "pg").start()
    try:
        assert first.pid is None
        assert _answer(second) == 42
    finally:
        second.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux only")
def test_killing_the_supervisor_takes_the_server_down(home: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom infra.local.postgres import LocalPostgres\n"
        "server = LocalPostgres(Path(sys.argv[1])).start()\n"
        "print(server.pid, flush=True)\nsys.stdin.read()\n"
    )
    supervisor = subprocess.Popen(
        [sys.executable, "-c", program, str(home / "pg")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with supervisor:
        assert supervisor.stdout
        pid = int(supervisor.stdout.readline())
        assert not _gone(pid)
        supervisor.kill()
    assert wait_for(lambda: _gone(pid), 10.0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to give up its rights")
def test_started_by_root_below_a_private_directory_it_keeps_its_data_elsewhere(home: Path) -> None:
    private = home / "private"
    private.mkdir(mode=0o700)
    server = LocalPostgres(private / "pg").start()
    try:
        assert _answer(server) == 42
        moved = (private / "pg").readlink()
        assert moved.stat().st_mode & 0o777 == 0o700
        assert private.stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()
    shutil.rmtree(moved)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to give up its rights")
def test_binaries_below_a_private_directory_are_copied_and_the_directory_stays_private(
    home: Path,
) -> None:
    private = home / "venv"
    private.mkdir(mode=0o700)
    shutil.copytree(find_binaries().parent, private / "install", symlinks=True)
    server = LocalPostgres(home / "pg", binaries=private / "install" / "bin").start()
    try:
        assert _answer(server) == 42
        assert server.pid
        used = Path(f"/proc/{server.pid}/exe").resolve()
        assert not used.is_relative_to(home)
        assert private.stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()
    shutil.rmtree(used.parents[1])


def test_it_insists_on_the_main_thread(home: Path) -> None:
    raised: list[Exception] = []

    def start() -> None:
        try:
            LocalPostgres(home / "pg").start()
        except PostgresFailed as failure:
            raised.append(failure)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert "main thread" in str(raised[0])


def test_a_taken_port_that_was_asked_for_is_named_as_the_reason(home: Path) -> None:
    server = LocalPostgres(home / "pg").start()
    try:
        with pytest.raises(PostgresFailed, match="could not bind"):
            LocalPostgres(home / "other", port=server.port).start()
    finally:
        server.stop()


def test_each_test_database_is_its_own(
    fresh_database: TestDatabase, empty_database: TestDatabase
) -> None:
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE only_here ()")
    with psycopg.connect(empty_database.admin_url) as connection:
        assert connection.execute("SELECT to_regclass('only_here')").fetchone() == (None,)
