"""What a read costs as an owner's decisions grow: the profile is stored, not computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg

from judgment.db.connection import Database
from judgment.kit.clock import utc_now
from judgment.profile import store
from judgment.profile.build import build
from judgment.profile.composer import composed
from judgment.profile.scores import sync_score
from tests.bench.profiles import profiled
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, ratio
from tests.bench.workbench import PROFILE, RECENT, BenchFailed, Workbench

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZES = (10, 100, 1_000, 10_000)
FLAT = 1.25
"""The largest owner's read over the smallest's that still counts as flat."""

GROW = """
WITH copies AS (
    SELECT d.*, gen_random_uuid() AS new_id, n
      FROM judgment.decisions d, generate_series(1, %(times)s) n
     WHERE d.user_id = %(from)s
     ORDER BY n, d.recorded_at
     LIMIT %(size)s
), made AS (
    INSERT INTO public.choices (id, user_id) SELECT new_id, %(to)s FROM copies
)
INSERT INTO judgment.decisions
       (id, user_id, scenario_id, scenario_title, category, theme, options, chosen_option_id,
        chosen_label, source, recorded_at)
SELECT new_id, %(to)s, scenario_id, scenario_title, category, theme, options, chosen_option_id,
       chosen_label, 'judgment', recorded_at + n * interval '1 minute'
  FROM copies
"""


def measure(bench: Workbench) -> Section:
    """Owners who repeat the seeded person's decisions, each with a profile built from theirs."""
    owners: dict[int, UUID] = {}
    built: dict[int, float] = {}
    for size in SIZES:
        owners[size], built[size] = _owner(bench, size)
    reads: dict[int, Callable[[], Any]] = {}
    recents: dict[int, Callable[[], Any]] = {}
    with bench.as_door("profile_read"):
        from functions.profile_read.handler import build as build_door
        from functions.profile_read.wiring import wire

        door = build_door(*wire())
        for size, owner in owners.items():
            reads[size] = _reading(door, bench, owner, PROFILE, "")
            recents[size] = _reading(door, bench, owner, RECENT, "limit=10")
        cases = [Case(f"profile {size}", call) for size, call in reads.items()]
        cases += [Case(f"recent {size}", call) for size, call in recents.items()]
        found = interleave(cases, bench.rounds * 4)
        section = _section(found, built)
        if missed(section.budgets):
            text = profiled(reads[SIZES[-1]])
            return replace(section, profiles={"Where the largest owner's read goes": text})
    return section


def _owner(bench: Workbench, size: int) -> tuple[UUID, float]:
    """A new owner with so many decisions, and the seconds that building the profile took."""
    owner = uuid4()
    seeded = bench.owner["user_id"]
    with psycopg.connect(bench.stack["database_url"]) as connection:
        connection.execute("INSERT INTO auth.users (id) VALUES (%s)", (owner,))
        connection.execute(
            "INSERT INTO public.profiles (id) VALUES (%s) ON CONFLICT DO NOTHING", (owner,)
        )
        connection.execute(
            "INSERT INTO judgment.owners (user_id, issuer, subject) VALUES (%s, 'bench', %s)",
            (owner, str(owner)),
        )
        connection.execute(GROW, {"from": seeded, "to": owner, "size": size, "times": size})
    with Database(bench.stack["database_url"]).transaction(owner) as tx:
        decisions = store.decisions(tx, owner)
        if len(decisions) != size:
            raise BenchFailed(f"{len(decisions)} decisions instead of {size}")
        began = time.perf_counter()
        profile = composed(build(decisions), utc_now())
        took = time.perf_counter() - began
        store.begin_again(tx, owner)
        store.save_progress(tx, owner, profile, sync_score(profile), says_when=True)
        tx.execute(
            "UPDATE public.player_decision_profiles SET summary_text = %s,"
            " agent_context_block = %s, summary_model_version = %s, summary_generated_at = %s"
            " WHERE user_id = %s",
            (
                profile.summary_text,
                profile.agent_context_block,
                profile.summary_model_version,
                profile.summary_generated_at,
                owner,
            ),
        )
    return owner, took


def _reading(
    door: Callable[..., Any], bench: Workbench, owner: UUID, path: str, query: str
) -> Callable[[], Any]:
    """A call of the door as that owner's agent; the switches and the limiter run as always."""
    from judgment.contract.principal import Principal
    from judgment.contract.scopes import Scope

    who = Principal("agent", owner, key_id=uuid4(), scopes=frozenset({Scope.PROFILE_READ}))
    event = bench.event(path, "sync_bench", query=query)
    event["requestContext"]["authorizer"] = who.to_context()

    def read() -> None:
        answer = door(event, None)
        if answer["statusCode"] != 200:
            raise BenchFailed(f"{answer}")

    return read


def _section(found: Mapping[str, Series], built: Mapping[int, float]) -> Section:
    smallest, largest = SIZES[0], SIZES[-1]
    flat = {
        what: ratio(found[f"{what} {largest}"].wall_ms, found[f"{what} {smallest}"].wall_ms)
        for what in ("profile", "recent")
    }
    return Section(
        "As decisions per owner grow",
        "Owners who repeat the seeded person's decisions over and over. A read takes the stored "
        "profile by its key and recent decisions by an index; only building grows, and it happens "
        "when a decision is recorded, not when an agent asks.",
        tables=(
            Table(
                ("decisions", "profile read ms", "10 recent decisions ms", "building it, ms"),
                tuple(
                    (
                        f"{size:,}",
                        f"{found[f'profile {size}'].wall:.2f}",
                        f"{found[f'recent {size}'].wall:.2f}",
                        f"{1e3 * built[size]:.0f}",
                    )
                    for size in SIZES
                ),
            ),
        ),
        budgets=tuple(
            Budget(
                f"{what} read of {largest:,} decisions over one of {smallest}",
                f"flat (≤ {FLAT} x)",
                f"{one.middle:.2f} x ({one.low:.2f}-{one.high:.2f})",
                one.middle <= FLAT,
            )
            for what, one in flat.items()
        ),
    )
