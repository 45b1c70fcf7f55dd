"""Streaming environments over real processes: who is served when somebody leaves or dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from infra.checkout import ROOT
from infra.local.gateway.invoking import FunctionError, FunctionSpec, Streamed
from infra.local.gateway.pool import Pool
from infra.local.gateway.streamed import StreamEnvironment
from tests.fakes.events import http_event


def _run(folder: Path, test: Callable[[Pool], Awaitable[None]], *, timeout_s: float = 60.0) -> None:
    """One environment for everybody."""
    environ = {"PATH": "/usr/bin:/bin"}
    handler = "tests.probe.stream.handler"
    spec = FunctionSpec("f", handler, environ, timeout_s, 128, folder / "log", ROOT, stream=True)

    async def main() -> None:
        pool = Pool(spec, StreamEnvironment, most=1)
        try:
            await asyncio.wait_for(test(pool), 60)
        finally:
            await pool.close()

    asyncio.run(main())


def _asked(**query: Any) -> dict[str, Any]:
    return http_event("GET", "/probe/stream", query={k: [str(v)] for k, v in query.items()})


async def _begun(pool: Pool, **query: Any) -> tuple[Streamed, dict[str, int]]:
    """The reply to a question, and its first number."""
    reply = await pool.invoke(_asked(**query))
    return reply, json.loads((await reply.chunk())[6:])


async def _rest(reply: Streamed) -> bytes:
    told = b""
    while (chunk := await reply.chunk()) is not None:
        told += chunk
    return told


@pytest.mark.promise("P4-stream-gone")
@pytest.mark.parametrize("deaf", [False, True])
def test_the_next_call_has_the_same_process_when_it_is_through_with_the_last(
    tmp_path: Path, deaf: bool
) -> None:
    ledger = tmp_path / "ledger"
    listens = {"deaf": "1"} if deaf else {}

    async def test(pool: Pool) -> None:
        reply, first = await _begun(pool, count=4, pause=0.2, ledger=ledger, **listens)
        reply.abandon()
        again, second = await _begun(pool, count=2)
        noted = ledger.read_text().split()
        assert noted[-1] == "ended"
        assert ("told" in noted) is deaf
        assert second["pid"] == first["pid"]
        assert (await _rest(again)).count(b"data: ") == 1
        assert not again.broke_off

    _run(tmp_path, test)


def test_a_process_that_dies_breaks_its_reply_off_and_is_replaced(tmp_path: Path) -> None:
    async def test(pool: Pool) -> None:
        reply, first = await _begun(pool, count=1000, pause=0.2)
        os.kill(first["pid"], signal.SIGKILL)
        await _rest(reply)
        assert reply.broke_off
        again, second = await _begun(pool, count=1)
        assert second["pid"] != first["pid"]
        assert await _rest(again) == b""
        assert not again.broke_off

    _run(tmp_path, test)


@pytest.mark.promise("P4-stream-gone")
def test_a_deaf_door_past_its_time_is_killed_and_replaced(tmp_path: Path) -> None:
    async def test(pool: Pool) -> None:
        reply, first = await _begun(pool, count=1000, pause=0.2, deaf=1)
        reply.abandon()
        again, second = await _begun(pool, count=1)
        assert second["pid"] != first["pid"]
        assert await _rest(again) == b""

    _run(tmp_path, test, timeout_s=5.0)


def test_a_process_that_dies_while_it_starts_says_so_at_once(tmp_path: Path) -> None:
    spec = FunctionSpec(
        "f",
        "tests.probe.echo.handler",
        {"PYTHONHOME": "/nowhere"},
        60.0,
        128,
        tmp_path / "log",
        ROOT,
        stream=True,
    )

    async def main() -> None:
        with pytest.raises(FunctionError, match=r"Runtime\.ExitError"):
            await asyncio.wait_for(StreamEnvironment(spec).start(), 10)

    asyncio.run(main())
