"""What recording a decision costs: under load, as an owner's history grows, until the text follows.

A submission is one transaction with the snapshot before, the decision, the profile after and two
events, then a call of the bus. Its work on the profile is carried forward and bounded, so that an
owner with 10,000 decisions waits no longer than one whose windows have just filled.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg

from infra.local.issuer import LocalIssuer
from infra.local.waiting import wait_for
from tests.bench.load import Load, drive, post_request
from tests.bench.profiles import profiled
from tests.bench.report import Budget, Section, Table
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, quantile, ratio
from tests.bench.workbench import PROFILE, STATE, BenchFailed, Workbench

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLIENTS = (1, 8, 16)
SECONDS = 4.0
MOST_PER_SECOND = 160
"""No local stack has come near it; only the number of owners depends on it."""
SIZES = (10, 100, 1_000, 10_000)
FLAT = 1.25
WAITS = 5
FRESH_SECONDS = 60.0
PATH = "/api/v1/decisions"

HISTORY = """
WITH library AS (
    SELECT c.*, s.category, s.theme, row_number() OVER (ORDER BY c.library_key) AS place,
           count(*) OVER () AS many
      FROM judgment.scenario_contents c JOIN public.scenarios s ON s.id = c.scenario_id
     WHERE c.library_key IS NOT NULL AND NOT c.archived
), past AS (
    SELECT gen_random_uuid() AS new_id, n, l.*
      FROM generate_series(1, %(size)s) n JOIN library l ON l.place = 1 + n %% l.many
), made AS (
    INSERT INTO public.choices (id, user_id) SELECT new_id, %(owner)s FROM past
)
INSERT INTO judgment.decisions
       (id, user_id, scenario_id, scenario_title, category, theme, options, stimuli,
        chosen_option_id, chosen_label, rationale, confidence, response_ms, source, recorded_at)
SELECT new_id, %(owner)s, gen_random_uuid(), title, category, theme, options, stimuli,
       options -> (n %% 3) ->> 'id', options -> (n %% 3) ->> 'label',
       'It is fair to everyone who has to live with it.', 0.7, 30000 + n %% 20000, 'judgment',
       timestamptz '2020-01-01' + n * interval '1 minute'
  FROM past
"""


def measure(bench: Workbench) -> Section:
    """Three measurements on one stack, whose owners are new each time."""
    _driven(bench, max(CLIENTS))  # the pools grow to their size
    loads = {clients: _driven(bench, clients) for clients in CLIENTS}
    found, first, text = _growth(bench)
    waits = [_wait_for_summary(bench) for _ in range(WAITS)]
    section = _section(loads, found, first, waits)
    return replace(section, profiles={"Where a submission goes": text}) if text else section


class _Owner:
    """A new owner of the stack, known to it already."""

    def __init__(self, bench: Workbench):
        self._port = bench.port
        self.user_id = uuid4()
        issuer = json.loads((STATE / "gateway.json").read_text())["issuer_url"]
        token = LocalIssuer(STATE / "issuer.json", issuer).token(self.user_id)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.ask("GET", "/api/v1/personal-context")

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of a 2xx answer. Raises BenchFailed."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, self.headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status // 100 != 2:
            raise BenchFailed(f"{method} {path}: {response.status} {answer}")
        return answer


def _scenarios(bench: Workbench) -> list[tuple[str, str]]:
    """Every canonical scenario with the id of its first option."""
    with psycopg.connect(bench.stack["database_url"]) as connection:
        rows = connection.execute(
            "SELECT scenario_id::text, options -> 0 ->> 'id' FROM judgment.scenario_contents"
            " WHERE library_key IS NOT NULL AND NOT archived ORDER BY library_key"
        ).fetchall()
    return [(scenario, option) for scenario, option in rows]


def _submission(scenario: str, option: str) -> dict[str, Any]:
    return {
        "scenario_id": scenario,
        "option_id": option,
        "rationale": "It is fair to everyone who has to live with it.",
        "confidence": 0.7,
        "response_ms": 30_000,
    }


def _driven(bench: Workbench, clients: int) -> Load:
    """Each client records rounds of owners of its own, one after the other."""
    scenarios, host = _scenarios(bench), f"127.0.0.1:{bench.port}"
    each = -(-round(SECONDS * MOST_PER_SECOND) // (clients * len(scenarios)))
    lanes = [
        [
            post_request(host, PATH, owner.headers, json.dumps(_submission(*one)).encode())
            for owner in (_Owner(bench) for _ in range(each))
            for one in scenarios
        ]
        for _ in range(clients)
    ]
    return drive(
        bench.port, [lane[i] for i in range(len(lanes[0])) for lane in lanes], clients, SECONDS
    )


def _growth(bench: Workbench) -> tuple[Mapping[str, Series], dict[int, float], str]:
    """The door in this process, for owners with longer and longer histories.

    Beside the figures, the seconds of each owner's first submission, which builds from scratch
    what later ones carry forward, and where the largest owner's time goes if it is not flat.
    """
    first: dict[int, float] = {}
    with bench.as_door("rounds"):
        from functions.rounds.handler import build
        from functions.rounds.wiring import wire

        door = build(*wire())
        calls: dict[int, Callable[[], None]] = {}
        for size in SIZES:
            calls[size] = _recording(door, bench, _with_history(bench, size))
            began = time.perf_counter()
            calls[size]()
            first[size] = time.perf_counter() - began
        cases = [Case(f"{size}", call, calls=2) for size, call in calls.items()]
        found = interleave(cases, min(bench.rounds, 12))
        text = ""
        if ratio(found[f"{SIZES[-1]}"].wall_ms, found[f"{SIZES[-2]}"].wall_ms).middle > FLAT:
            text = profiled(calls[SIZES[-1]], 10)
    return found, first, text


def _with_history(bench: Workbench, size: int) -> UUID:
    owner = _Owner(bench).user_id
    with psycopg.connect(bench.stack["database_url"]) as connection:
        connection.execute(HISTORY, {"owner": owner, "size": size})
        connection.execute(
            "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'judgment')"
            " ON CONFLICT DO NOTHING",
            (owner,),
        )
    return owner


def _recording(door: Callable[..., Any], bench: Workbench, owner: UUID) -> Callable[[], None]:
    """A call of the door that records that owner's next round."""
    from judgment.contract.principal import Principal

    who = Principal("owner", owner)
    rounds: Iterator[tuple[str, str]] = iter(_scenarios(bench))

    def record() -> None:
        event = bench.posted(PATH, json.dumps(_submission(*next(rounds))))
        event["requestContext"]["authorizer"] = who.to_context()
        answer = door(event, None)
        if answer["statusCode"] != 201:
            raise BenchFailed(f"{answer}")

    return record


def _wait_for_summary(bench: Workbench) -> float:
    """Seconds from a new owner's decision to the profile that holds its summary."""
    owner = _Owner(bench)
    key = owner.ask("POST", "/api/v1/keys", {"name": "bench"})["key"]
    owner.headers = {**owner.headers}
    owner.ask("POST", PATH, _submission(*_scenarios(bench)[0]))
    began = time.perf_counter()
    owner.headers["Authorization"] = f"Bearer {key}"
    if not wait_for(lambda: owner.ask("GET", PROFILE)["summary_generated_at"], FRESH_SECONDS, 0.1):
        raise BenchFailed("the summary did not follow")
    return time.perf_counter() - began


def _section(
    loads: Mapping[int, Load],
    found: Mapping[str, Series],
    first: Mapping[int, float],
    waits: Sequence[float],
) -> Section:
    return Section(
        "Recording a decision",
        f"Through the gateway, for {SECONDS:.0f} s, each client with owners of its own who start "
        "from nothing; then the door alone, in this process, for owners with a history (every "
        "window of a category is full at 240 decisions); then the time from a decision to the "
        f"summary that holds it, without a model, over {len(waits)} new owners.",
        tables=(_loaded(loads), _grown(found, first), _followed(waits)),
        budgets=_budgets(loads, found),
    )


def _loaded(loads: Mapping[int, Load]) -> Table:
    rows = (
        (
            str(clients),
            f"{load.per_second:.0f}",
            f"{load.quantile_ms(0.5):.0f}",
            f"{load.quantile_ms(0.95):.0f}",
        )
        for clients, load in loads.items()
    )
    return Table(("clients", "decisions/s", "p50 ms", "p95 ms"), tuple(rows))


def _grown(found: Mapping[str, Series], first: Mapping[int, float]) -> Table:
    rows = (
        (
            f"{size:,}",
            f"{found[f'{size}'].wall:.1f}",
            f"{found[f'{size}'].slowest:.1f}",
            f"{found[f'{size}'].cpu:.1f}",
            f"{1e3 * first[size]:.0f}",
        )
        for size in SIZES
    )
    header = ("decisions before", "p50 ms", "p95 ms", "CPU ms", "the first, from scratch, ms")
    return Table(header, tuple(rows))


def _followed(waits: Sequence[float]) -> Table:
    return Table(
        ("decision to fresh summary", "s"),
        (("median", f"{quantile(waits, 0.5):.2f}"), ("slowest", f"{max(waits):.2f}")),
    )


def _budgets(loads: Mapping[int, Load], found: Mapping[str, Series]) -> tuple[Budget, ...]:
    failures = sum(load.failures for load in loads.values())
    grown = ratio(found[f"{SIZES[-1]}"].wall_ms, found[f"{SIZES[-2]}"].wall_ms)
    return (
        Budget(
            f"decisions at {', '.join(map(str, CLIENTS))} clients: errors",
            "0",
            str(failures),
            failures == 0,
        ),
        Budget(
            f"decision after {SIZES[-1]:,} over one after {SIZES[-2]:,}",
            f"flat (≤ {FLAT} x)",
            f"{grown.middle:.2f} x ({grown.low:.2f}-{grown.high:.2f})",
            grown.middle <= FLAT,
        ),
    )
