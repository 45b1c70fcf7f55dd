"""What the measurements share: one stack of their own, its doors in this process, and agent keys.

The stack is the one of `./dev up`, started over a state folder of its own, so that the numbers
do not depend on what a developer's stack holds. Keys are minted through the API, as many as the
reads need at 600 reads a key and hour: no limit is lifted for the benchmark.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.local.gateway.events import HttpRequest, Stamp, authorizer_event, proxy_event
from infra.local.gateway.routing import Router
from judgment.contract.routes import ROUTES
from judgment.kit.clock import utc_now
from tests.fakes.model_server import ModelServer, always

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".local" / "bench"
READS_PER_KEY = 500
"""Below the 600 that a key may do in an hour."""
PROFILE = "/api/agent/v1/profile"
RECENT = "/api/agent/v1/profile/recent-decisions"
MODEL = "ollama:fake-model"
GENEROUS = {
    "LIMIT_PROFILE_PER_HOUR": "1000000000",
    "LIMIT_RECENT_DECISIONS_PER_HOUR": "1000000000",
}
"""For doors in this process alone: the counting is the same, the answer is never 429."""


class BenchFailed(RuntimeError):
    """The ground that the figures need is not there."""


@dataclass
class Workbench:
    """Call `close` at the end; everything else starts when it is first asked for."""

    rounds: int = 15
    root: Path = ROOT
    _undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _keys: Iterator[str] | None = None

    @cached_property
    def stack(self) -> dict[str, Any]:
        """The content of the stack's stack.json."""
        arguments = ["--state", str(STATE)]
        command = [sys.executable, "-m", "infra.local"]
        self._down([*command, "down", *arguments])
        shutil.rmtree(STATE, ignore_errors=True)  # what an earlier run left would be measured too
        self._undo.callback(self._down, [*command, "down", *arguments])
        up = [*command, "up", "--detach", "--port", "0", "--parent", str(os.getpid()), *arguments]
        models = {"MODEL_MESSAGE": MODEL, "OLLAMA_BASE_URL": f"{self.provider.url}/v1"}
        environ = {**os.environ, **models}
        done = subprocess.run(
            up, cwd=ROOT, capture_output=True, text=True, check=False, env=environ
        )
        if done.returncode:
            raise BenchFailed(f"the stack did not start: {done.stderr[-2000:]}")
        return json.loads((STATE / "stack.json").read_text())

    def _down(self, command: list[str]) -> None:
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False)

    @cached_property
    def provider(self) -> ModelServer:
        """The provider that answers the stack's messages; a measurement gives it its script."""
        return self._undo.enter_context(ModelServer(always("no script")))

    @property
    def port(self) -> int:
        """The gateway's port."""
        return urlsplit(self.stack["api_url"]).port or 0

    @property
    def supervisor(self) -> int:
        """The process that all parts of the stack descend from."""
        _ = self.stack
        return int((STATE / "supervisor.pid").read_text())

    @property
    def owner(self) -> dict[str, Any]:
        """The seeded person: `user_id`, `owner_token`, `agent_key`."""
        return self.stack["owners"]["demo"]

    def close(self) -> None:
        """Stop the stack."""
        self._undo.close()

    def door_environment(self, door: str) -> dict[str, str]:
        """The whole environment that the gateway gives this door."""
        _ = self.stack
        config = json.loads((STATE / "gateway.json").read_text())
        return {**config["environments"][door], **GENEROUS}

    @contextmanager
    def as_door(self, door: str) -> Iterator[None]:
        """This process as the door's environment, with what it writes to stdout dropped."""
        before = dict(os.environ)
        os.environ.update(self.door_environment(door))
        try:
            with redirect_stdout(io.StringIO()):
                yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def event(self, path: str, key: str, *, query: str = "") -> dict[str, Any]:
        """The proxy event of a GET by this key, not authorized yet."""
        match = Router(ROUTES).match("GET", path)
        if match is None:
            raise BenchFailed(f"no route for {path}")
        headers = (("authorization", f"Bearer {key}"), ("accept", "application/json"))
        request = HttpRequest("GET", path, query, (*headers,), "127.0.0.1", b"")
        return proxy_event(request, match, Stamp("bench", utc_now(), "127.0.0.1"))

    def posted(self, path: str, body: str) -> dict[str, Any]:
        """The proxy event of a POST of JSON, not authorized yet."""
        match = Router(ROUTES).match("POST", path)
        if match is None:
            raise BenchFailed(f"no route for {path}")
        headers = (("content-type", "application/json"), ("accept", "application/json"))
        request = HttpRequest("POST", path, "", headers, "127.0.0.1", body.encode())
        return proxy_event(request, match, Stamp("bench", utc_now(), "127.0.0.1"))

    def question(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The same request as the authorizer sees it."""
        return authorizer_event(dict(event))

    def keys(self, reads: int) -> list[str]:
        """Fresh agent keys of the seeded person, enough for so many reads."""
        return [self._mint() for _ in range(-(-reads // READS_PER_KEY))]

    def _mint(self) -> str:
        if self._keys is None:
            self._keys = (f"bench {number}" for number in itertools.count(1))
        body = json.dumps({"name": next(self._keys)})
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {
                "Authorization": f"Bearer {self.owner['owner_token']}",
                "Content-Type": "application/json",
            }
            connection.request("POST", "/api/v1/keys", body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status not in (200, 201):
            raise BenchFailed(f"no key: {response.status} {answer}")
        return answer["key"]


class Reader:
    """One agent on one kept connection, changing keys before one is used up."""

    def __init__(self, bench: Workbench, path: str = PROFILE):
        self._bench = bench
        self._path = path
        self._connection = HTTPConnection("127.0.0.1", bench.port, timeout=60)
        self._left = 0
        self._headers: dict[str, str] = {}

    def __call__(self) -> bytes:
        """The body of one read. Raises BenchFailed unless it is 200."""
        if not self._left:
            self._headers = {"Authorization": f"Bearer {self._bench.keys(1)[0]}"}
            self._left = READS_PER_KEY
        self._left -= 1
        self._connection.request("GET", self._path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise BenchFailed(f"{response.status} {body[:300]!r}")
        return body
