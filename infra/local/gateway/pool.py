"""The execution environments of one function: made on demand, kept warm, few.

Lambda makes an environment for each concurrent call. A laptop must not: a call waits for a busy
environment first, and others are started only when it waited longer than a moment. An environment
that nobody needed for a while is ended, as on Lambda, but for the last.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

from infra.local.gateway.invoking import (
    MAX_PAYLOAD_BYTES,
    Environment,
    FunctionError,
    FunctionSpec,
    IntegrationTimeout,
    PayloadTooLarge,
)

GROWTH_SECONDS = 0.2
IDLE_SECONDS = 300.0
MOST_ENVIRONMENTS = 8


class Pool:
    """Runs one function. Use it from one event loop."""

    def __init__(
        self,
        spec: FunctionSpec,
        make: Callable[[FunctionSpec], Environment],
        *,
        most: int = MOST_ENVIRONMENTS,
        at_once: int = 1,
        idle_s: float = IDLE_SECONDS,
    ):
        """At most `most` environments, `at_once` of them starting at the same time."""
        self.spec = spec
        self._make = make
        self._most = most
        self._at_once = at_once
        self._idle_s = idle_s
        self._all: set[Environment] = set()
        self._idle: dict[Environment, float] = {}
        self._waiting: deque[asyncio.Future[Environment]] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        self._growth: asyncio.TimerHandle | None = None
        self._reaping: asyncio.TimerHandle | None = None

    @property
    def size(self) -> int:
        """Environments that run or start."""
        return len(self._all) + len(self._starting)

    async def invoke(self, event: Any, limit_s: float | None = None) -> Any:
        """The function's reply, or a `Streamed` one.

        Raises FunctionError, PayloadTooLarge, and IntegrationTimeout after `limit_s` seconds; the
        function then runs on to its own end.
        """
        body = json.dumps(event).encode()
        if len(body) > MAX_PAYLOAD_BYTES:
            raise PayloadTooLarge(f"{len(body)} bytes")
        loop = asyncio.get_running_loop()
        latest = None if limit_s is None else loop.time() + limit_s
        environment = await self._take(limit_s)
        reply = self._call(environment, body)
        left = None if latest is None else max(0.0, latest - loop.time())
        await asyncio.wait((reply,), timeout=left)
        if not reply.done():
            raise IntegrationTimeout(f"no answer in {limit_s} s")
        return reply.result()

    async def warm(self) -> None:
        """Start the first environment before anybody asks, and wait until it is there."""
        self._ensure_one()
        await asyncio.gather(*self._starting, return_exceptions=True)

    def _ensure_one(self) -> None:
        if not self.size:
            self._begin()

    async def close(self) -> None:
        """Kill every environment, also one that is just starting."""
        for timer in filter(None, (self._growth, self._reaping)):
            timer.cancel()
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for environment in tuple(self._all):
            environment.end()
        await asyncio.sleep(0)  # transports close in the loop's next round

    def _call(self, environment: Environment, body: bytes) -> asyncio.Future[Any]:
        timeout = self.spec.timeout_s
        deadline_ms = int((time.time() + timeout) * 1000)
        call = environment.call(str(uuid.uuid4()), deadline_ms, body)
        late = FunctionError("Sandbox.Timedout", f"Task timed out after {timeout:.2f} seconds")
        killer = asyncio.get_running_loop().call_later(timeout, environment.end, late)

        def ended(done: asyncio.Future[Any]) -> None:
            killer.cancel()
            if not done.cancelled():
                done.exception()  # nobody may be left to ask for it
            self._give(environment)

        call.done.add_done_callback(ended)
        call.reply.add_done_callback(_looked_at)
        return call.reply

    async def _take(self, limit_s: float | None) -> Environment:
        while self._idle:
            environment, _ = self._idle.popitem()
            if environment.alive:
                return environment
            self._all.discard(environment)
        waiter: asyncio.Future[Environment] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._ensure_one()
        self._grow_later()
        try:
            return await asyncio.wait_for(waiter, limit_s)
        except TimeoutError as late:
            raise IntegrationTimeout("every environment is busy") from late

    def _give(self, environment: Environment) -> None:
        if not environment.alive:
            self._all.discard(environment)
            if self._waiting and not self.size:
                self._begin()
            return
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(environment)
                return
        self._idle[environment] = asyncio.get_running_loop().time()
        self._reap_later()

    def _reap_later(self) -> None:
        if self._reaping is None and len(self._all) > 1:
            loop = asyncio.get_running_loop()
            self._reaping = loop.call_later(self._idle_s, self._reap)

    def _reap(self) -> None:
        self._reaping = None
        latest = asyncio.get_running_loop().time() - self._idle_s
        for environment in [one for one, since in self._idle.items() if since <= latest]:
            if len(self._all) > 1:
                del self._idle[environment]
                self._all.discard(environment)
                environment.end()
        if self._idle:
            self._reap_later()

    def _grow_later(self) -> None:
        if self._growth is None and self.size < self._most:
            loop = asyncio.get_running_loop()
            self._growth = loop.call_later(GROWTH_SECONDS, self._grow)

    def _grow(self) -> None:
        self._growth = None
        waiting = sum(not waiter.done() for waiter in self._waiting)
        wanted = min(waiting, self._at_once) - len(self._starting)
        for _ in range(min(wanted, self._most - self.size)):
            self._begin()
        if self._waiting:
            self._grow_later()

    def _begin(self) -> None:
        task = asyncio.get_running_loop().create_task(self._start())
        self._starting.add(task)

    async def _start(self) -> None:
        environment = self._make(self.spec)
        task = asyncio.current_task()
        try:
            await environment.start()
        except FunctionError as failure:
            if not self._all:
                self._fail_waiting(failure)
            return
        except asyncio.CancelledError:
            environment.end()
            raise
        finally:
            self._starting.discard(task)  # type: ignore[arg-type]
        self._all.add(environment)
        self._give(environment)

    def _fail_waiting(self, failure: FunctionError) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(failure)


def _looked_at(reply: asyncio.Future[Any]) -> None:
    """Nobody may be left to ask what it failed with."""
    if not reply.cancelled():
        reply.exception()
