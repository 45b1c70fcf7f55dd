"""The warm profile read against the bare calls it makes, and the authorizer against its SELECT."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import psycopg

from tests.bench.profiles import profiled
from tests.bench.recording import Heard, listening, replay_operations, replay_sql, selects_of
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, difference, ratio
from tests.bench.workbench import GENEROUS, PROFILE, BenchFailed, Workbench

READ_LIMIT, READ_WITHOUT_MS = 2.5, 0.8
AUTHORIZER_LIMIT, AUTHORIZER_MORE_MS = 2.5, 0.6

READ, FREE = "profile read, handler in to out", "the same without the boto3 call"
CHANGED = "the same again, of a profile that has changed since"
BESIDE, AFTER = "bare calls, side by side", "bare calls, one after the other"
SQL, UPDATE = "bare psycopg calls", "bare boto3 call"
AUTHORIZER, SELECT = "authorizer, handler in to out", "its bare SELECT"


Door = Callable[..., Any]


class NoLimiter:
    """Stands where the limiter stands and counts nothing."""

    def require(self, subject: str, limit: Any) -> None:
        """Let it pass."""


def measure(bench: Workbench) -> Section:
    """All cases in the same rounds, in this process, on the stack's Postgres and DynamoDB."""
    with bench.as_door("authorizer"):
        from functions.authorizer.handler import handler as authorizer

        event = bench.event(PROFILE, bench.owner["agent_key"])
        question = bench.question(event)
        event["requestContext"]["authorizer"] = authorizer(question, None)["context"]
        asked = _heard(lambda: authorizer(question, None))
        selecting = replay_sql(_connection(bench, "authorizer"), selects_of(asked))
    with bench.as_door("profile_read"):
        read, free, changed = _doors()
        answer = _read_once(read, event)
        heard = _heard(lambda: read(event, None))
        sql = replay_sql(_connection(bench, "profile_read"), heard)
        update = replay_operations(_dynamodb(), heard)
        with ThreadPoolExecutor(1) as aside:
            found = interleave(
                [
                    Case(READ, lambda: read(event, None)),
                    Case(FREE, lambda: free(event, None)),
                    Case(CHANGED, lambda: changed(event, None)),
                    Case(BESIDE, _beside(aside, sql, update)),
                    Case(AFTER, lambda: (sql(), update())),
                    Case(SQL, sql),
                    Case(UPDATE, update),
                    Case(AUTHORIZER, lambda: authorizer(question, None)),
                    Case(SELECT, selecting),
                ],
                bench.rounds * 8,
            )
        return _section(found, heard, answer, lambda: free(event, None))


def _doors() -> tuple[Door, Door, Door]:
    """The door as it is deployed; one without a limiter; that one forgetting each answer."""
    from functions.profile_read.handler import build
    from functions.profile_read.wiring import wire

    gate, profiles, limits, telemetry = wire()
    other, forgetful, *_ = wire()
    other._limiter = NoLimiter()  # type: ignore[assignment]
    forgetting = build(other, forgetful, limits, telemetry)

    def changed(event: Any, context: Any) -> Any:
        forgetful._answers.clear()
        return forgetting(event, context)

    return (
        build(gate, profiles, limits, telemetry),
        build(other, profiles, limits, telemetry),
        changed,
    )


def _read_once(read: Callable[..., Any], event: dict[str, Any]) -> bytes:
    answer = read(event, None)
    if answer["statusCode"] != 200:
        raise BenchFailed(f"the read door says {answer}")
    return answer["body"].encode()


def _heard(call: Callable[[], object]) -> Heard:
    with listening() as heard:
        call()
    return heard


def _connection(bench: Workbench, door: str) -> psycopg.Connection[Any]:
    url = bench.door_environment(door)["DATABASE_URL"]
    return psycopg.connect(url, autocommit=True, prepare_threshold=None)


def _dynamodb() -> Any:
    """A client as boto3 makes it, with nothing set."""
    client: Any = boto3.client("dynamodb")
    return client


def _beside(
    aside: ThreadPoolExecutor, sql: Callable[[], None], update: Callable[[], None]
) -> Callable[[], None]:
    def both() -> None:
        counted = aside.submit(update)
        sql()
        counted.result()

    return both


def _section(
    found: dict[str, Series], heard: Heard, answer: bytes, free: Callable[[], object]
) -> Section:
    over = ratio(found[READ].wall_ms, found[BESIDE].wall_ms)
    without = found[FREE].quiet
    authorizer = ratio(found[AUTHORIZER].wall_ms, found[SELECT].wall_ms)
    more = difference(found[AUTHORIZER].wall_ms, found[SELECT].wall_ms)
    budgets = (
        Budget(
            "warm profile read over the bare calls it makes, side by side like its own",
            f"≤ {READ_LIMIT} x",
            f"{over.middle:.2f} x ({over.low:.2f}-{over.high:.2f})",
            over.middle <= READ_LIMIT,
        ),
        Budget(
            "warm profile read without the whole boto3 call",
            f"≤ {READ_WITHOUT_MS} ms",
            f"{without:.2f} ms ({found[FREE].wall:.2f} the median round)",
            without <= READ_WITHOUT_MS,
        ),
        Budget(
            "authorizer, warm, over its bare SELECT",
            f"≤ {AUTHORIZER_LIMIT} x or ≤ {AUTHORIZER_MORE_MS} ms more",
            f"{authorizer.middle:.2f} x, {more.middle:.2f} ms more",
            authorizer.middle <= AUTHORIZER_LIMIT or more.middle <= AUTHORIZER_MORE_MS,
        ),
    )
    why = {"Where a read without its boto3 call goes": profiled(free)} if missed(budgets) else {}
    return Section(
        "One warm read, in parts",
        f"In one process on real Postgres and the DynamoDB emulator. The read answers "
        f"{len(answer):,} bytes ({_sections_of(answer)}). Its bare calls are those heard while "
        f"the door ran: {len(heard.statements)} statements ({len(selects_of(heard).statements)} "
        f"of them between BEGIN and COMMIT) and {len(heard.operations)} UpdateItem, replayed on "
        "plain clients. The key's limit is raised for this process alone "
        f"({', '.join(GENEROUS)}).",
        tables=(Table(("case", "wall ms", "quietest", "95th percentile", "CPU ms"), _rows(found)),),
        budgets=budgets,
        profiles=why,
    )


def _rows(found: dict[str, Series]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (name, *(f"{figure:.2f}" for figure in (one.wall, one.quiet, one.slowest, one.cpu)))
        for name, one in found.items()
    )


def _sections_of(answer: bytes) -> str:
    profile = json.loads(answer)
    block = len(profile["agent_context_block"] or "")
    return f"{len(profile['signals'])} signals, a context block of {block:,} characters"
