"""A bundled Postgres as a child process: no Docker, no system user made, no parent chmodded.

The server refuses to run as root. Started by root it therefore drops to `postgres` or `nobody`,
who may not reach a checkout under a private directory: binaries and data then live below
/var/tmp, and the data path that was asked for becomes a link to them. It listens on 127.0.0.1 and
on a Unix socket, both with scram passwords. On Linux it dies with the thread that started it
(PR_SET_PDEATHSIG), so that `kill -9` of a supervisor leaves nothing behind; hence `start` insists
on the main thread. Commits are not flushed to disk: this server is for development and tests.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote

import psycopg
from psycopg import sql

from infra.local.children import die_with_parent
from infra.local.ports import free_port
from infra.local.postgres_host import (
    LAPTOP_SETTINGS,
    PUBLIC_CACHE,
    PostgresFailed,
    PostgresMissing,
    copied_binaries,
    find_binaries,
    first_number,
    is_server_of,
    own_directory,
    unprivileged_account,
)
from infra.local.private import write_private
from infra.local.waiting import wait_for

__all__ = ["LocalPostgres", "PostgresFailed", "PostgresMissing"]

_START_SECONDS = 30.0
_STOP_SECONDS = 10.0
Via = Literal["tcp", "socket"]


class LocalPostgres:
    """One Postgres server over `data_dir`, which is made when absent and kept between runs.

    `port` 0 takes a free one. The superuser's password is made once and kept in a private file
    beside the data. Every other role's password is derived from it (`role_password`), so that no
    door can guess another's. `binaries` is the `bin` directory of another Postgres than
    `find_binaries` finds.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int = 0,
        binaries: Path | None = None,
    ):
        self.data_dir = data_dir.absolute()
        self.port = port
        self.log_path = self.data_dir.with_name(self.data_dir.name + ".log")
        self._stamp = hashlib.sha256(str(self.data_dir).encode()).hexdigest()[:16]
        self._password: str | None = None
        self._fixed_port = bool(port)
        self._process: subprocess.Popen[bytes] | None = None
        self._sockets: Path | None = None
        self._account = unprivileged_account()
        self._wanted = binaries
        self._bin = Path()

    @property
    def password(self) -> str:
        """The superuser's password. Raises PostgresFailed before the first start."""
        if self._password is None:
            raise PostgresFailed("Start the server before asking for its password.")
        return self._password

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> Self:
        """Make the cluster if there is none, recover from an earlier crash, and serve.

        Call it from the main thread. Raises PostgresMissing, PostgresFailed.
        """
        if threading.current_thread() is not threading.main_thread():
            raise PostgresFailed("Start Postgres from the main thread: it dies with its thread.")
        self._bin = self._reachable_binaries()
        self._make_directories()
        self._make_cluster()
        self._clear_stale()
        deadline = time.monotonic() + _START_SECONDS
        while not self._serve(deadline):
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        """Fast shutdown (clients are cut off), then an immediate one. Safe to call twice."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(_STOP_SECONDS)
            shutil.rmtree(str(self._sockets), ignore_errors=True)

    def role_password(self, role: str) -> str:
        """The password of a login role on this server (hexadecimal, stable for these data)."""
        if role == "postgres":
            return self.password
        return hmac.new(self.password.encode(), role.encode(), hashlib.sha256).hexdigest()

    def url(self, role: str = "postgres", dbname: str = "judgment", *, via: Via = "tcp") -> str:
        """A libpq URL with the role's password, over TCP or the Unix socket."""
        who = f"{quote(role)}:{quote(self.role_password(role), safe='')}"
        if via == "socket":
            where = quote(str(self._sockets), safe="")
            return f"postgresql://{who}@/{quote(dbname)}?host={where}&port={self.port}"
        return f"postgresql://{who}@127.0.0.1:{self.port}/{quote(dbname)}"

    def ensure_database(self, name: str) -> None:
        """Create the database when it is absent."""
        with psycopg.connect(self.url(dbname="postgres"), autocommit=True) as connection:
            row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
            if row.fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def set_role_passwords(self, *roles: str) -> None:
        """Let each of these existing roles log in with its `role_password`."""
        with psycopg.connect(self.url(dbname="postgres"), autocommit=True) as connection:
            for role in roles:
                statement = sql.SQL("ALTER ROLE {} PASSWORD {}")
                word = sql.Literal(self.role_password(role))
                connection.execute(statement.format(sql.Identifier(role), word))

    def _as_account(self) -> dict[str, Any]:
        if self._account is None:
            return {}
        return {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}

    def _run(self, *command: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd="/",
            capture_output=True,
            text=True,
            input=stdin,
            check=False,
            **self._as_account(),
        )

    def _reachable_binaries(self) -> Path:
        found = self._wanted or find_binaries()
        if self._account is None or self._can_run(found / "postgres"):
            return found
        return copied_binaries(found.parent) / "bin"

    def _can_run(self, program: Path) -> bool:
        try:
            return self._run(str(program), "--version").returncode == 0
        except PermissionError:
            return False

    def _make_directories(self) -> None:
        self.data_dir.parent.mkdir(parents=True, exist_ok=True)
        self._sockets = Path(tempfile.gettempdir()) / f"jpg-{self._stamp}"
        shutil.rmtree(self._sockets, ignore_errors=True)  # of a supervisor that was killed
        self._sockets.mkdir(mode=0o700)
        self._own(self._sockets)
        if self.data_dir.exists():
            return
        self.data_dir.unlink(missing_ok=True)  # a link whose target is gone
        if self._account and self._run("/bin/ls", "-d", f"{self.data_dir.parent}/.").returncode:
            moved = own_directory(PUBLIC_CACHE, 0o755) / f"data-{self._stamp}"
            shutil.rmtree(moved, ignore_errors=True)  # of a checkout that was deleted
            moved.mkdir(mode=0o700)
            self.data_dir.symlink_to(moved)
        else:
            self.data_dir.mkdir(mode=0o700)
        self._own(self.data_dir)

    def _own(self, path: Path) -> None:
        if self._account:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _make_cluster(self) -> None:
        kept = self.data_dir.with_name(self.data_dir.name + ".password")
        known = kept.read_text() if kept.exists() else None
        self._password = self._password or known or secrets.token_urlsafe(24)
        if not (self.data_dir / "PG_VERSION").exists():
            self._initialise()
        elif known != self._password:
            self._clear_stale()
            self._reset_password()
        if known != self._password:
            write_private(kept, self._password)

    def _initialise(self) -> None:
        assert self._sockets is not None
        word = self._sockets / "password"
        write_private(word, self.password)
        self._own(word)
        result = self._run(
            str(self._bin / "initdb"),
            *("-D", str(self.data_dir.resolve()), "-U", "postgres", "-E", "UTF8", "--no-sync"),
            "--auth=scram-sha-256",
            f"--pwfile={word}",
            "--locale=C.UTF-8" if sys.platform == "linux" else "--locale=C",
        )
        word.unlink()
        if result.returncode != 0:
            raise PostgresFailed(f"initdb failed: {result.stderr[-800:]}")

    def _reset_password(self) -> None:
        word = self.password.replace("'", "''")
        result = self._run(
            *(str(self._bin / "postgres"), "--single", "-D", str(self.data_dir.resolve())),
            "postgres",
            stdin=f"ALTER ROLE postgres PASSWORD '{word}'\n",
        )
        if result.returncode != 0:
            raise PostgresFailed(f"The password could not be set: {result.stderr[-800:]}")

    def _clear_stale(self) -> None:
        """Stop a server that an earlier supervisor left on these data; forget a dead one's pid."""
        pid_file = self.data_dir / "postmaster.pid"
        pid = first_number(pid_file)
        if pid is not None and is_server_of(pid, self.data_dir.resolve()):
            for stop in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, stop)
                if wait_for(lambda: not is_server_of(pid, self.data_dir.resolve()), 5.0):
                    break
        pid_file.unlink(missing_ok=True)

    def _spawn(self) -> subprocess.Popen[bytes]:
        settings = {
            **LAPTOP_SETTINGS,
            "port": str(self.port),
            "unix_socket_directories": str(self._sockets),
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        with self.log_path.open("ab") as log:
            process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self.data_dir.resolve()), *options],
                text=False,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                preexec_fn=partial(die_with_parent, signal.SIGINT),  # a fast shutdown
                **self._as_account(),
            )
        self._process = process
        return process

    def _serve(self, deadline: float) -> bool:
        """True when this very server answers; False when another try may succeed."""
        if not self._fixed_port:
            self.port = free_port()
        before = self.log_path.stat().st_size if self.log_path.exists() else 0
        process = self._spawn()
        while process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                url = self.url(dbname="postgres", via="socket")
                psycopg.connect(url, connect_timeout=2).close()
                return True
            if time.monotonic() > deadline:
                self.stop()
                raise PostgresFailed(f"Postgres did not answer in {_START_SECONDS:.0f} s.")
            time.sleep(0.02)
        said = self.log_path.read_bytes()[before:].decode(errors="replace")
        port_lost = "could not bind" in said and not self._fixed_port
        # The children of a killed server need a moment to notice and let its memory go.
        if (port_lost or "is still in use" in said) and time.monotonic() < deadline:
            return False
        raise PostgresFailed(f"Postgres ended with {process.returncode}: {said[-800:]}")
