"""What invoking a function means, whatever runs it: its description, its reply, its failures.

InvocationFailed
├── FunctionError        the code raised, could not start, died, or ran past its own timeout
├── IntegrationTimeout   no answer within the gateway's limit; the function runs on
└── PayloadTooLarge      the event is over Lambda's limit
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

MAX_PAYLOAD_BYTES = 6 * 1024 * 1024
"""Lambda's limit for a synchronous invocation, each way (AWS Lambda quotas)."""

_STREAM_CHUNKS_AHEAD = 64


class InvocationFailed(Exception):
    """The invocation gave no reply."""


class FunctionError(InvocationFailed):
    """As Lambda reports it: the type and message of what was raised."""

    def __init__(self, kind: str, message: str):
        self.kind = kind
        self.message = message
        super().__init__(f"{kind}: {message}")


class IntegrationTimeout(InvocationFailed):
    """The caller stopped waiting."""


class PayloadTooLarge(InvocationFailed):
    """The event would not fit into an invocation."""


@dataclass(frozen=True)
class FunctionSpec:
    """One function: `handler` is the dotted path of the callable (of the `app`'s sibling when it
    streams), `environ` its whole environment but for what Lambda itself sets."""

    name: str
    handler: str
    environ: dict[str, str] = field(repr=False)
    timeout_s: float
    memory_mb: int
    log: Path
    folder: Path
    stream: bool = False


@dataclass
class Streamed:
    """A streamed reply: its head, then chunks until None; `abandon` when nobody listens."""

    head: Any
    hang_up: Callable[[], None] = lambda: None
    broke_off: bool = False
    abandoned: bool = False
    _chunks: asyncio.Queue[bytes | None] = field(
        default_factory=lambda: asyncio.Queue(_STREAM_CHUNKS_AHEAD)
    )

    async def put(self, chunk: bytes | None) -> None:
        """Hand on a chunk; waits for a slow reader, never for an absent one."""
        if not self.abandoned:
            await self._chunks.put(chunk)

    async def chunk(self) -> bytes | None:
        """The next chunk, or None at the end."""
        return await self._chunks.get()

    def abandon(self) -> None:
        """Hang up on the function. Whether it then stops or runs on is the function's affair."""
        self.abandoned = True
        while not self._chunks.empty():
            self._chunks.get_nowait()
        self.hang_up()


@dataclass(frozen=True)
class Invocation:
    """A running call: `reply` resolves first or together with `done`, at which the environment can
    take another."""

    reply: asyncio.Future[Any]
    done: asyncio.Future[Any]


class Environment(Protocol):
    """One execution environment: a process that serves one invocation at a time."""

    @property
    def alive(self) -> bool:
        """Whether it can take another invocation."""
        ...

    async def start(self) -> None:
        """Start the process and load the handler. Raises FunctionError."""
        ...

    def call(self, request_id: str, deadline_ms: int, event: bytes) -> Invocation:
        """Hand it an event (JSON)."""
        ...

    def end(self, failure: FunctionError | None = None) -> None:
        """Kill it; a running call fails with `failure`."""
        ...
