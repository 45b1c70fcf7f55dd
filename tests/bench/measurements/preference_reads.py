"""A hosted read of preferences, consent and ledger on, against the bare SQL that it needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import psycopg

from judgment.contract.principal import Principal
from judgment.kit.ids import new_id
from tests.bench.measurements.reads import NoLimiter
from tests.bench.profiles import profiled
from tests.bench.recording import Heard, listening, replay_sql, selects_of
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, ratio
from tests.bench.workbench import BenchFailed, Workbench

AGENT, OWNER = "/api/agent/v1/preferences", "/api/v1/preferences"
LIMIT = 2.5
KEYS, GRANTS = 40, 50
OWN, OWN_SQL = "an owner's own agent reads", "its bare SQL"
OTHER, OTHER_SQL = "another owner's agent reads, by consent", "its bare SQL, by consent"

Door = Callable[[dict[str, Any], Any], dict[str, Any]]


def measure(bench: Workbench) -> Section:
    """Both reads and their bare statements in the same rounds, on the stack's Postgres."""
    mine, other = (UUID(bench.stack["owners"][name]["user_id"]) for name in ("demo", "cold"))
    with bench.as_door("preferences"):
        door = _door()
        for who in (mine, other):
            _ask(door, _post(bench, who, "/signals", {"signals": _signals()}))
            _compile(bench, who)
        for grant in _grants(mine):
            _ask(door, _post(bench, other, "/consent", grant))
        own = _read(bench, mine, "limit=100")
        opened = _read(bench, mine, f"limit=100&owner={other}")
        answers = [_ask(door, event) for event in (own, opened)]
        heard = [_heard(door, event) for event in (own, opened)]
        connection = psycopg.connect(
            bench.door_environment("preferences")["DATABASE_URL"],
            autocommit=True,
            prepare_threshold=None,
        )
        found = interleave(
            [
                Case(OWN, lambda: door(own, None)),
                Case(OWN_SQL, replay_sql(connection, heard[0])),
                Case(OTHER, lambda: door(opened, None)),
                Case(OTHER_SQL, replay_sql(connection, heard[1])),
            ],
            bench.rounds * 8,
        )
        connection.close()
        return _section(found, answers, heard, lambda: door(opened, None))


def _door() -> Door:
    """The door as it is deployed, but for the limiter: that is another network's time."""
    from functions.preferences.handler import build
    from functions.preferences.wiring import wire

    parts, telemetry = wire()
    parts.gate._limiter = NoLimiter()  # type: ignore[assignment]
    return build(parts, telemetry)


def _compile(bench: Workbench, who: UUID) -> None:
    from judgment.db.connection import Database
    from judgment.preferences.recompiling import Recompiling

    worker = Database(bench.door_environment("preference_compile")["DATABASE_URL"])
    Recompiling(worker.transaction).compile(who)
    worker.close()


def _signals() -> list[dict[str, Any]]:
    return [
        {
            "key": f"dining.kind{n % 8}.dish{n}",
            "value": {"note": "Prefers it on most days, and says why." * 3, "n": n},
            "strength": round(0.2 + n / 100, 2),
            "source": {"platform": "codex"},
            "id": str(new_id()),
        }
        for n in range(KEYS)
    ]


def _grants(audience: UUID) -> list[dict[str, Any]]:
    """Most of them about others and other keys, as a history is."""
    others = [
        {"key_glob": f"health.part{n}.*", "audience": f"somebody {n % 7}", "level": "solve"}
        for n in range(GRANTS - 2)
    ]
    mine = {"key_glob": "dining.*", "audience": f"user:{audience}"}
    return [*others, mine, {**mine, "key_glob": "dining.*.dish1", "effect": "deny"}]


def _post(bench: Workbench, who: UUID, path: str, body: dict[str, Any]) -> dict[str, Any]:
    event = bench.posted(OWNER + path, json.dumps(body))
    return _by(event, Principal("owner", who))


def _read(bench: Workbench, who: UUID, query: str) -> dict[str, Any]:
    scopes = frozenset({"preferences:read"})
    key = Principal("agent", who, key_id=new_id(), key_prefix="sync_bench", scopes=scopes)
    return _by(bench.event(AGENT, "unused", query=query), key)


def _by(event: dict[str, Any], who: Principal) -> dict[str, Any]:
    event["requestContext"]["authorizer"] = who.to_context()
    return event


def _ask(door: Door, event: dict[str, Any]) -> Any:
    answer = door(event, None)
    if answer["statusCode"] not in (200, 201):
        raise BenchFailed(f"the preferences door says {answer}")
    return json.loads(answer["body"])


def _heard(door: Door, event: dict[str, Any]) -> Heard:
    with listening() as heard:
        door(event, None)
    return heard


def _section(
    found: Mapping[str, Series],
    answers: list[Any],
    heard: list[Heard],
    read: Callable[[], object],
) -> Section:
    own = ratio(found[OWN].wall_ms, found[OWN_SQL].wall_ms)
    other = ratio(found[OTHER].wall_ms, found[OTHER_SQL].wall_ms)
    budgets = tuple(
        Budget(
            f"hosted read of preferences over the bare SQL it needs, {how}",
            f"≤ {LIMIT} x",
            f"{one.middle:.2f} x ({one.low:.2f}-{one.high:.2f})",
            one.middle <= LIMIT,
        )
        for how, one in (("own, ledger on", own), ("another owner's, consent and ledger on", other))
    )
    why = {"Where a hosted read of preferences goes": profiled(read)} if missed(budgets) else {}
    return Section(
        "One hosted read of preferences",
        f"In one process on real Postgres, the limiter left out. A document of {KEYS} entries; the "
        f"other owner's history of consent has {GRANTS} steps, and {len(answers[1]['entries'])} "
        "entries are open. Each read is a transaction that checks the switches and consent, "
        "appends to the ledger and commits: "
        f"{len(heard[1].statements)} statements, {len(selects_of(heard[1]).statements)} of them "
        "between BEGIN and COMMIT. The bare side is those statements, replayed with plain psycopg, "
        "ledger and all.",
        tables=(
            Table(
                ("case", "wall ms", "quietest", "95th percentile", "CPU ms"),
                tuple(
                    (n, *(f"{v:.2f}" for v in (one.wall, one.quiet, one.slowest, one.cpu)))
                    for n, one in found.items()
                ),
            ),
        ),
        budgets=budgets,
        profiles=why,
    )
