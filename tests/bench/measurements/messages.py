"""What a turn costs beside its model: the first byte, the whole turn, and fifty of them at once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx

from infra.local.issuer import LocalIssuer
from infra.local.places import Places
from tests.bench.accounting import memory_mb
from tests.bench.paced import streamed
from tests.bench.report import Section, Table
from tests.bench.rounds import Case, by_own_clock, interleave
from tests.bench.workbench import STATE, BenchFailed, Workbench

if TYPE_CHECKING:
    from tests.fakes.model_server import ModelServer
    from tests.fakes.model_trouble import Pieces

STREAMS = 50
WORDS = ("Good ", "morning, ", "owner.")
CALL = {"model": "fake-model", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}

TURN = "one turn through the gateway"
PROVIDER = "the same call of the provider, made directly"
FIRST = "first byte of text, after the provider's first token"


def measure(bench: Workbench) -> Section:
    """One owner's turns beside their provider call; then many owners' at the same time."""
    provider = bench.provider
    provider.script = lambda turn: streamed(WORDS)
    with (
        httpx.Client(base_url=bench.stack["api_url"], timeout=60) as api,
        httpx.Client(base_url=provider.url, timeout=60) as direct,
    ):
        owner = _owner()
        found = interleave(
            [
                Case(TURN, lambda: _said(api, owner, "Hello")),
                Case(PROVIDER, lambda: _asked(direct)),
            ],
            bench.rounds * 4,
        )
        first = by_own_clock({FIRST: lambda: _first_byte(api, owner, provider)}, bench.rounds * 8)
    rows = [
        (name, f"{series.quiet:.1f}", f"{series.wall:.1f}", f"{series.slowest:.1f}")
        for name, series in found.items()
    ]
    rows.append((FIRST, f"{first[FIRST].quiet:.1f}", f"{first[FIRST].wall:.1f}", ""))
    added = median(a - b for a, b in zip(found[TURN].wall_ms, found[PROVIDER].wall_ms, strict=True))
    return Section(
        "Messages: what a turn adds to its model",
        "`POST /message` with the authorizer, streaming and Postgres, over a provider that answers"
        f" at once. A turn adds {added:.1f} ms to the provider's call: it stores the message,"
        " attaches the page, reads instructions and history, and stores the answer before `done`.",
        (
            Table(("ms", "quiet round", "median round", "95th percentile of a call"), tuple(rows)),
            _at_once(bench, provider),
        ),
        notes=(
            "The provider is a script in this process: these are the costs of mechanics, and say"
            " nothing about a model.",
        ),
    )


def _owner() -> dict[str, str]:
    config = json.loads((STATE / "gateway.json").read_text())
    issuer = LocalIssuer(Places(STATE).issuer, config["issuer_url"])
    return {"Authorization": f"Bearer {issuer.token(uuid4())}"}


def _said(api: httpx.Client, owner: dict[str, str], content: str) -> str:
    answer = api.post("/message", json={"content": content}, headers=owner)
    if answer.status_code != 200 or "event: done" not in answer.text:
        raise BenchFailed(f"{answer.status_code} {answer.text[-300:]}")
    return answer.text


def _asked(direct: httpx.Client) -> None:
    answer = direct.post("/v1/chat/completions", json=CALL)
    if "[DONE]" not in answer.text:
        raise BenchFailed(answer.text[-300:])


def _first_byte(api: httpx.Client, owner: dict[str, str], provider: ModelServer) -> float:
    left: list[float] = []
    provider.script = lambda turn: streamed(WORDS, first=left.append)
    seen: float | None = None
    with api.stream("POST", "/message", json={"content": "Hello"}, headers=owner) as answer:
        for chunk in answer.iter_bytes():
            if seen is None and b"text-delta" in chunk:
                seen = time.perf_counter()
    if seen is None:
        raise BenchFailed("no text came")
    provider.script = lambda turn: streamed(WORDS)
    return 1e3 * (seen - left[0])


def _at_once(bench: Workbench, provider: ModelServer) -> Table:
    """Every stream waits until all are open, so that all are open at once."""
    api_url = bench.stack["api_url"]
    rest = memory_mb(bench.supervisor)
    meet = threading.Barrier(STREAMS, timeout=240, action=lambda: open_now.append(memory_mb(root)))
    open_now: list[float] = []
    root = bench.supervisor
    owners = [(f"owner-{number}", _owner()) for number in range(STREAMS)]
    mixed: list[str] = []

    def script(turn: Any) -> Pieces:
        name = turn.body["messages"][-1]["content"]
        return streamed((f"{name} begins. ", f"{name} ends."), meet=meet)

    def one(name: str, headers: dict[str, str], say: Callable[[httpx.Client], str]) -> None:
        with httpx.Client(base_url=api_url, timeout=300) as api:
            text = say(api)
        others = [other for other, _ in owners if f'"{other} ' in text and other != name]
        if others or f"{name} begins. " not in text or f"{name} ends." not in text:
            mixed.append(name)

    provider.script = script
    began = time.perf_counter()
    threads = [
        threading.Thread(target=one, args=(n, h, lambda api, n=n, h=h: _said(api, h, n)))
        for n, h in owners
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    provider.script = lambda turn: streamed(WORDS)
    if mixed or not open_now:
        raise BenchFailed(f"streams were mixed or never open at once: {mixed[:5]}")
    each = (open_now[0] - rest) / STREAMS
    return Table(
        (f"{STREAMS} owners at once", "figure"),
        (
            ("streams open at the same moment", str(STREAMS)),
            ("answers with another's words", str(len(mixed))),
            ("seconds until all had ended, processes started included", f"{seconds:.1f}"),
            ("memory of the whole stack before, MB", f"{rest:.0f}"),
            ("memory with all streams open, MB", f"{open_now[0]:.0f}"),
            ("memory of one more stream, MB", f"{each:.1f}"),
        ),
    )
