"""A streaming ASGI door: counts aloud as server-sent events, or breaks off as it is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import parse_qs

from mangum import Mangum
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse


async def app(scope, receive, send):
    """`?count=&pause=&fail_at=&refuse=&ledger=`: one event per number, each noted in `ledger`."""
    response = _respond(Request(scope, receive))
    await response(scope, receive, send)


handler = Mangum(app, lifespan="off")


def _respond(request: Request) -> Response:
    query = {name: values[-1] for name, values in parse_qs(request.url.query).items()}
    if query.get("refuse"):
        return JSONResponse({"code": "rate_limited", "message": "no"}, 429, {"Retry-After": "7"})
    return StreamingResponse(_count(query), media_type="text/event-stream")


async def _count(query: dict[str, str]):
    for number in range(int(query.get("count", "3"))):
        if str(number) == query.get("fail_at"):
            raise RuntimeError("the probe was asked to break off")
        if "ledger" in query:
            _note(Path(query["ledger"]), number)
        yield f"data: {json.dumps({'number': number})}\n\n"
        await asyncio.sleep(float(query.get("pause", "0")))


def _note(ledger: Path, number: int) -> None:
    with ledger.open("a") as file:
        file.write(f"{number}\n")
