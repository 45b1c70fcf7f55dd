"""What an owner wrote elsewhere reaches no prompt of a summary and no text of it (ruling 5)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.profile import store as profile_rows
from judgment.profile.build import build
from judgment.profile.composer import compose
from judgment.profile.service import ProfileService, read_stored
from tests.fakes.model_wire import Say
from tests.fakes.summaries import MARK, Summarised, truthful
from tests.unit.llm.wired import Wired, wired
from tests.unit.profile.decisions import decision, option
from tests.unit.summary.profiles import simulated

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-5-canary")

CANARIES = {
    name: f"canary{name}{uuid.uuid5(uuid.NAMESPACE_DNS, name).hex}"
    for name in (
        *("context", "preferences", "memory", "rationale", "title", "label", "column"),
        *("signal", "document"),
    )
}


@pytest.fixture
def row(fresh_database: TestDatabase) -> Iterator[Summarised]:
    made = Summarised(fresh_database)
    yield made
    made.close()


@pytest.fixture
def wire() -> Iterator[Wired]:
    with wired() as made:
        made.server.script = lambda turn: Say(truthful(turn.told).model_dump_json())
        yield made


def personal_rounds() -> PlayerDecisionProfile:
    """Rounds about the owner's own life, all of one title, with a rationale each."""
    options = [
        option(0, fairness=0.9, risk=0.2),
        option(1, growth=0.9, risk=0.8),
    ]
    return build(
        [
            decision(
                n,
                options,
                n % 5 == 0,
                theme="personal",
                scenario_title=CANARIES["title"],
                chosen_label=CANARIES["label"],
                rationale=f"It is fair, because {CANARIES['rationale']}.",
                confidence=0.8,
                response_ms=9_000,
            )
            for n in range(24)
        ]
    )


def plant(row: Summarised) -> None:
    """Canaries wherever the schema has room for an owner's words, now and in parts to come."""
    row.execute(
        "UPDATE public.profiles SET personal_context = %s WHERE id = %s",
        f"I live for {CANARIES['context']}.",
        row.user_id,
    )
    for name in ("preferences", "memory"):
        row.execute(f"CREATE TABLE IF NOT EXISTS judgment.{name}_like (user_id uuid, words text)")
        row.execute(
            f"INSERT INTO judgment.{name}_like VALUES (%s, %s)", row.user_id, CANARIES[name]
        )
        row.execute(f"GRANT SELECT ON judgment.{name}_like TO judgment_worker")
        row.execute(
            f"ALTER TABLE public.player_decision_profiles ADD COLUMN IF NOT EXISTS {name} jsonb"
        )
        row.execute(
            f"UPDATE public.player_decision_profiles SET {name} = %s::jsonb WHERE user_id = %s",
            json.dumps({"note": CANARIES[name]}),
            row.user_id,
        )
    row.execute(
        "INSERT INTO judgment.preference_signals (user_id, id, position, key, scope, instant,"
        " sequence, sent_sha256, statement, recorded_at)"
        " VALUES (%s, gen_random_uuid(), 1, 'a.b', 'global', now(), 0, '', %s::json, now())",
        row.user_id,
        json.dumps({"kind": "preference", "value": CANARIES["signal"]}),
    )
    row.execute(
        "INSERT INTO judgment.preference_documents (user_id, digest, document)"
        " VALUES (%s, '', %s::json)",
        row.user_id,
        json.dumps({"keys": {"a.b": {"value": CANARIES["document"]}}}),
    )
    row.execute(
        "ALTER TABLE public.player_decision_profiles ADD COLUMN IF NOT EXISTS personal_context text"
    )
    row.execute(
        "UPDATE public.player_decision_profiles SET personal_context = %s WHERE user_id = %s",
        CANARIES["column"],
        row.user_id,
    )


def found_in(*texts: Any) -> list[str]:
    """Which canaries sing in there."""
    whole = json.dumps(texts, default=str)
    return [name for name, canary in CANARIES.items() if canary in whole]


@pytest.mark.promise("R-5-later")
@pytest.mark.parametrize("whose", [personal_rounds, lambda: simulated(1)], ids=["own", "many"])
def test_no_canary_sings_in_a_prompt_or_in_a_text(row: Summarised, wire: Wired, whose: Any) -> None:
    row.save(whose())
    plant(row)
    with row.worker.transaction(row.user_id) as tx:
        stored = profile_rows.profile_row(tx, row.user_id)
    assert {"preferences", "memory", "column"} <= set(found_in(stored))
    assert row.run(wire.models).ending == "written"
    assert MARK in row.texts()["agent_context_block"]
    bodies = [turn.body for turn in wire.server.turns]
    assert bodies
    assert found_in(bodies, row.texts(), row.state(), row.calls()) == []


@pytest.mark.promise("R-5-later")
def test_nor_in_the_composers_words_stored_or_at_a_read(row: Summarised, wire: Wired) -> None:
    row.save(personal_rounds())
    plant(row)
    with row.owner.transaction(row.user_id) as tx:
        answer = ProfileService(profile_rows).profile(tx, row.user_id)
        stored = profile_rows.stored_profile(tx, row.user_id).row
    assert answer.summary_model_version == "composer-1"
    wire.script("refused")
    row.run(wire.models)
    whole = compose(read_stored(stored))
    assert found_in(answer.model_dump(mode="json"), row.texts()) == []
    assert found_in([o.to_json() for o in whole.observations]) == []


def test_the_worker_that_writes_summaries_may_not_read_personal_context(row: Summarised) -> None:
    with row.worker.transaction(row.user_id) as tx:
        found = tx.value(
            "SELECT has_table_privilege('public.profiles', 'SELECT')"
            " OR has_any_column_privilege('public.profiles', 'SELECT')"
            " OR has_any_column_privilege('judgment.decisions', 'SELECT')"
        )
    assert found is False
