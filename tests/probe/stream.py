"""A streaming ASGI door: counts aloud as server-sent events, or breaks off as it is asked."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from judgment.entry.buffering import buffered
from judgment.entry.event_stream import EventStream, json_answer

if TYPE_CHECKING:
    from judgment.entry.event_stream import Receive, Scope, Send

HEADERS = {"content-type": "text/event-stream"}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """`?count=&pause=&fail_at=&refuse=&ledger=&deaf=&heartbeat=&gather=`: one event per number.

    Each is noted in `ledger` before it is sent, and so is the end. `deaf` is a door that does not
    listen for its client's leaving; `gather` says how many doors of one ledger wait for each other
    after their first number.
    """
    query = {n: v[-1] for n, v in parse_qs(scope["query_string"].decode()).items()}
    if query.get("refuse"):
        await json_answer(send, 429, '{"code":"rate_limited","message":"no"}', {"Retry-After": "7"})
    elif query.get("deaf"):
        await _tell_unheard(query, send)
    else:
        heartbeat = float(query.get("heartbeat", "15"))
        stream = EventStream(
            lambda stopped: _count(query, stopped.is_set), HEADERS, heartbeat_seconds=heartbeat
        )
        await stream(scope, receive, send)


handler = buffered(app)


async def _tell_unheard(query: dict[str, str], send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    frames = _count(query, lambda: False)
    while (frame := await asyncio.to_thread(next, frames, None)) is not None:
        await send({"type": "http.response.body", "body": frame, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _count(query: dict[str, str], stopped: Callable[[], bool]) -> Iterator[bytes]:
    note = _noted_in(query.get("ledger"))
    try:
        for number in range(int(query.get("count", "3"))):
            if str(number) == query.get("fail_at"):
                raise RuntimeError("the probe was asked to break off")
            note(str(number))
            yield f"data: {json.dumps({'number': number, 'pid': os.getpid()})}\n\n".encode()
            _pause(float(query.get("pause", "0")), stopped)
            _gather(int(query.get("gather", "0")), query.get("ledger", ""), stopped)
        note("told")
    finally:
        note("ended")


def _pause(seconds: float, stopped: Callable[[], bool]) -> None:
    """Look every now and then, as a door does that waits for something else."""
    until = time.monotonic() + seconds
    while not stopped() and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.05))


def _gather(many: int, ledger: str, stopped: Callable[[], bool]) -> None:
    """Wait until as many have noted their first number."""
    while many and not stopped() and Path(ledger).read_text().split().count("0") < many:
        time.sleep(0.05)


def _noted_in(ledger: str | None) -> Callable[[str], None]:
    def note(line: str) -> None:
        if ledger:
            with Path(ledger).open("a") as file:
                file.write(f"{line}\n")

    return note
