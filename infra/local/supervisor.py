"""Starts the whole product on this machine, watches its parts, and stops them in reverse order."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from infra.checkout import ROOT
from infra.local.children import Child, ChildFailed, end_leftover, last_words
from infra.local.database import StackDatabase, given_database, own_database, prepare
from infra.local.gateway.config import GatewayConfig, catalogue_with
from infra.local.issuer import LocalIssuer
from infra.local.lock import held
from infra.local.ministack import ministack, wait_until_ready
from infra.local.people import ADMIN, KeyNotMinted, people
from infra.local.ports import remembered_ports
from infra.local.postgres import PostgresFailed, PostgresMissing
from infra.local.private import write_private
from infra.local.provision import aws_access, provision
from infra.local.retention import forget_long_logs, forget_old_lines
from infra.local.seed import seed
from infra.local.settings import environments, stack_settings
from judgment.db.migrate import MigrationError
from judgment.kit.clock import utc_now
from judgment.scenarios.library.reading import LibraryError

if TYPE_CHECKING:
    from infra.catalogue import Catalogue
    from infra.local.places import Places
    from infra.local.provision import Provisioned

API_PORT = 8642
_GATEWAY_SECONDS = 60.0
_WATCH_SECONDS = 0.5

Say = Callable[[str], None]


_EXPLAINED = (ChildFailed, KeyNotMinted, LibraryError, PostgresFailed, PostgresMissing)
"""Failures whose message tells the person at the keyboard what to do; others are defects."""


class Stopped(Exception):
    """A signal asked us to stop."""


@dataclass(frozen=True)
class Options:
    """What a stack is started with.

    `api_port` 0 takes any; `with_modules` join their catalogue; `parent`, if given, is a process
    (a test session) whose end also ends the stack and its state.
    """

    places: Places
    api_port: int = API_PORT
    with_modules: tuple[str, ...] = ()
    parent: int | None = None


class Supervisor:
    """One run of the stack. Use it from the main thread: its children die with that thread."""

    def __init__(self, options: Options, say: Say):
        self._options = options
        self._places = options.places
        self._say = say
        self._parts: list[Child] = []
        self._ports: dict[str, int] = {}

    def run(self, ready: Callable[[dict[str, Any]], None]) -> int:
        """Serve until a signal; `ready` gets the content of stack.json. The exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _stop)
        self._places.make()
        with held(self._places.lock), ExitStack() as undo:
            if self._options.parent is not None:
                undo.callback(shutil.rmtree, self._places.state, ignore_errors=True)
            undo.callback(self._places.stack_file.unlink, missing_ok=True)
            try:
                stack, database = self._start(undo)
                ready(stack)
                self._watch(database)
            except Stopped:
                self._say("stopping")
            except _EXPLAINED as failure:
                self._say(str(failure))
                return 1
            finally:
                _ignore_signals()
        return 0

    def _start(self, undo: ExitStack) -> tuple[dict[str, Any], StackDatabase]:
        places = self._places
        places.stack_file.unlink(missing_ok=True)
        self._end_leftovers()
        forget_old_lines(places.wire_log, utc_now())
        forget_long_logs(places.logs)
        wishes = {"api": self._options.api_port, "issuer": 0, "aws": 0, "postgres": 0}
        self._ports = remembered_ports(places.ports, wishes)
        endpoint = self._aws(undo)
        database = self._database(undo)
        catalogue = catalogue_with(self._options.with_modules)
        with ThreadPoolExecutor(1) as other:
            provisioning = other.submit(self._provision, catalogue, endpoint)
            self._migrate(database)
            provisioned = provisioning.result()
        issuer = LocalIssuer(places.issuer, f"http://127.0.0.1:{self._ports['issuer']}")
        issuer.begin()
        given = {**stack_settings(self.api_url, issuer.url), **provisioned.settings}
        config = self._config(
            issuer,
            environments=environments(
                catalogue, given, database.url, endpoint=endpoint, places=places
            ),
            queues=provisioned.queues,
            aws=aws_access(endpoint),
        )
        gateway = self._gateway(config, undo)
        owners = seed(database.admin_url, places.assets, self._say).owners
        self._wait_for_gateway(gateway)
        return self._publish(owners, issuer, database, endpoint), database

    @property
    def api_url(self) -> str:
        """Where the product is reached."""
        return f"http://127.0.0.1:{self._ports['api']}"

    def _aws(self, undo: ExitStack) -> str:
        """Begin starting the emulator, unless AWS_ENDPOINT_URL names another."""
        given = os.environ.get("AWS_ENDPOINT_URL")
        if given:
            return given
        self._begin(ministack(self._places, self._ports["aws"]), undo)
        return f"http://127.0.0.1:{self._ports['aws']}"

    def _provision(self, catalogue: Catalogue, endpoint: str) -> Provisioned:
        """As soon as the emulator, if it is ours, answers."""
        for child in self._parts:
            if child.name == "ministack":
                wait_until_ready(child, self._ports["aws"])
        return provision(catalogue, endpoint, self._secrets()["session"])

    def _database(self, undo: ExitStack) -> StackDatabase:
        given = os.environ.get("DATABASE_URL")
        if given:
            return given_database(given, self._secrets()["roles"])
        database = own_database(self._places, self._ports["postgres"])
        undo.callback(database.stop)
        return database

    def _migrate(self, database: StackDatabase) -> None:
        try:
            prepare(database, self._say)
        except MigrationError as failure:
            anew = f"To start anew, delete {self._places.postgres} (and its .password)."
            raise ChildFailed(f"{failure}\n{anew}") from failure

    def _secrets(self) -> dict[str, str]:
        path = self._places.secrets
        if not path.exists():
            made = {name: secrets.token_hex(32) for name in ("session", "roles")}
            write_private(path, json.dumps(made))
        return json.loads(path.read_text())

    def _config(self, issuer: LocalIssuer, **parts: Any) -> GatewayConfig:
        places = self._places
        return GatewayConfig(
            port=self._ports["api"],
            issuer_port=self._ports["issuer"],
            issuer_url=issuer.url,
            issuer_file=str(places.issuer),
            host_port=f"127.0.0.1:{self._ports['api']}",
            checkout=str(ROOT),
            logs=str(places.logs),
            wire_log=str(places.wire_log),
            with_modules=self._options.with_modules,
            **parts,
        )

    def _gateway(self, config: GatewayConfig, undo: ExitStack) -> Child:
        config.write(self._places.gateway)
        undo.callback(self._places.gateway.unlink, missing_ok=True)
        child = Child(
            "gateway",
            [sys.executable, "-m", "infra.local.gateway", str(self._places.gateway)],
            environ={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self._places.scratch)},
            log=self._places.logs / "gateway.log",
            folder=ROOT,
        )
        self._begin(child, undo)
        return child

    def _begin(self, child: Child, undo: ExitStack) -> None:
        child.start()
        undo.callback(child.stop)
        self._parts.append(child)
        shown = {part.name: part.pid for part in self._parts}
        self._places.children.write_text(json.dumps(shown))

    def _end_leftovers(self) -> None:
        """Where the system has no parent-death signal, a killed supervisor leaves its parts."""
        path = self._places.children
        if not path.exists():
            return
        marks = {"ministack": "ministack", "gateway": str(self._places.gateway)}
        for name, pid in json.loads(path.read_text()).items():
            end_leftover(pid, marks[name])
        path.unlink()

    def _wait_for_gateway(self, child: Child) -> None:
        deadline = time.monotonic() + _GATEWAY_SECONDS
        while not _answers(self._ports["api"]):
            child.ensure_running()
            if time.monotonic() > deadline:
                raise ChildFailed(f"GET /health is not 200:\n{last_words(child.log)}")
            time.sleep(0.03)

    def _publish(
        self,
        owners: dict[str, UUID],
        issuer: LocalIssuer,
        database: StackDatabase,
        endpoint: str,
    ) -> dict[str, Any]:
        known = people(self.api_url, owners, issuer, self._places)
        stack = {
            "api_url": self.api_url,
            "mcp_url": f"{self.api_url}/mcp",
            "console_url": f"{self.api_url}/",
            "database_url": database.admin_url,
            "aws_endpoint_url": endpoint,
            "admin_token": issuer.token(ADMIN, admin=True),
            "owners": {name: person.shown() for name, person in known.items()},
        }
        write_private(self._places.stack_file, json.dumps(stack, indent=2) + "\n")
        return stack

    def _watch(self, database: StackDatabase) -> None:
        """Wait for a signal. Raises ChildFailed when a part ends, Stopped when the parent does."""
        while True:
            for child in self._parts:
                child.ensure_running()
            database.keep_alive()
            if self._options.parent is not None and not _exists(self._options.parent):
                raise Stopped
            time.sleep(_WATCH_SECONDS)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(signal.Signals(number).name)


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
