"""The statements of `scenarios`; each runs in the transaction it is handed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.connection import json_value
from judgment.db.queries import load_queries
from judgment.profile.decision import Decision, decision_from_row
from judgment.profile.service import read_stored
from judgment.profile.store import own_score, profile_row
from judgment.scenarios.choosing import Answered, History
from judgment.scenarios.model import Scenario, scenario_columns, scenario_from_row
from judgment.scenarios.serving import Serving

if TYPE_CHECKING:
    from judgment.contract.rounds import CanonicalTheme
    from judgment.db.connection import Transaction
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.scenarios.recording import NewDecision

_Q = load_queries("judgment.scenarios")
_JSON = ("options", "constraints", "stimuli")


def lock_owner(tx: Transaction, user_id: UUID) -> str | None:
    """Who keeps the owner's profile, locked until the transaction ends; None where a Sync app does
    without having said so."""
    own_score(tx, user_id)
    return tx.value(_Q["lock_owner"], {"user_id": user_id})


def owner_is_known(tx: Transaction, user_id: UUID) -> bool:
    """Whether there is such an owner at all."""
    return tx.value(_Q["owner_is_known"], {"user_id": user_id})


def playable(tx: Transaction, user_id: UUID, scenario_id: UUID) -> Scenario | None:
    """The scenario, where the owner may play it."""
    row = tx.one(_Q["playable"], {"user_id": user_id, "scenario_id": scenario_id})
    return None if row is None else scenario_from_row(row)


def scenario_values(scenario: Scenario) -> dict[str, Any]:
    """The values of a scenario's columns by name, as the statements that store one take them."""
    columns = scenario_columns(scenario)
    return {**columns, **{name: json_value(columns[name]) for name in _JSON}}


def open_serving(tx: Transaction, user_id: UUID, scenario_id: UUID) -> Serving | None:
    """What the owner was shown of that scenario and has not decided."""
    row = tx.one(_Q["open_serving"], {"user_id": user_id, "scenario_id": scenario_id})
    return None if row is None else Serving(**row)


def open_canonical_servings(
    tx: Transaction, user_id: UUID, theme: CanonicalTheme | None
) -> list[Serving]:
    """Undecided canonical rounds, of that theme or of any, the one shown last first."""
    rows = tx.all(_Q["open_canonical_servings"], {"user_id": user_id, "theme": theme})
    return [Serving(**row) for row in rows]


def add_serving(tx: Transaction, user_id: UUID, serving: Serving, at: datetime) -> None:
    """Keep what is about to be shown."""
    values = {
        "id": serving.id,
        "user_id": user_id,
        "scenario_id": serving.scenario_id,
        "retest_of": serving.retest_of,
        "outcome_of": serving.outcome_of,
        "served_at": at,
    }
    tx.execute(_Q["add_serving"], values)


def serve_again(tx: Transaction, serving: Serving, at: datetime) -> None:
    """It is shown once more."""
    tx.execute(_Q["serve_again"], {"id": serving.id, "served_at": at})


def canonical_versions(tx: Transaction) -> list[tuple[UUID, str | None]]:
    """Every scenario that may be offered to anybody, with its text's digest where it has one."""
    return [(row["scenario_id"], row["content_sha256"]) for row in tx.all(_Q["canonical_versions"])]


def canonical(tx: Transaction, ids: Sequence[UUID]) -> list[Scenario]:
    """Those of them that somebody could play."""
    found = (scenario_from_row(row) for row in tx.all(_Q["canonical"], {"ids": list(ids)}))
    return [scenario for scenario in found if scenario is not None]


def history(tx: Transaction, user_id: UUID) -> History:
    """What an owner played, and how much each signal knows of them; open rounds are not in it."""
    answered = [Answered(**row) for row in tx.all(_Q["answered"], {"user_id": user_id})]
    profile = stored_profile(tx, user_id) or read_stored(None)
    return History(
        user_id,
        rounds=sum(one.times for one in answered),
        answered={one.scenario_id: one for one in answered},
        evidence={name: reading.evidence for name, reading in profile.signals.items()},
    )


def is_answered(tx: Transaction, user_id: UUID, scenario_id: UUID) -> bool:
    """Whether the owner has decided on it before."""
    return tx.value(_Q["is_answered"], {"user_id": user_id, "scenario_id": scenario_id})


def decision(tx: Transaction, user_id: UUID, decision_id: UUID) -> Decision | None:
    """One decision of the owner."""
    row = tx.one(_Q["decision"], {"user_id": user_id, "id": decision_id})
    return None if row is None else decision_from_row(row)


def add_choice(tx: Transaction, user_id: UUID, decision_id: UUID) -> None:
    """Make the id that a decision and its snapshot hang on.

    Raises CheckViolated where a Sync app's table of choices wants more than that.
    """
    tx.execute(_Q["add_choice"], {"id": decision_id, "user_id": user_id})


def add_snapshot(tx: Transaction, user_id: UUID, decision_id: UUID, snapshot_id: UUID) -> None:
    """Freeze the owner's profile and personal context under the id of the decision to come."""
    values = {"id": snapshot_id, "decision_id": decision_id, "user_id": user_id}
    tx.execute(_Q["add_snapshot"], values)


def add_decision(tx: Transaction, new: NewDecision) -> Decision:
    """Store a decision and close its serving; the decision as it reads from the store.

    What goes into the profile is what a rebuild would read, to the digit.
    """
    scenario, request = new.scenario, new.request
    chosen = scenario.option(request.option_id)
    assert chosen is not None  # checked before
    confidence = request.confidence
    values = {
        "id": new.id,
        "user_id": new.user_id,
        "scenario_id": scenario.id,
        "scenario_title": scenario.title,
        "category": scenario.category,
        "theme": scenario.theme,
        "options": json_value([option.to_json() for option in scenario.options]),
        "chosen_option_id": chosen.id,
        "chosen_label": chosen.label,
        "rationale": new.rationale,
        # A float8 would be cut to 15 digits on its way into a numeric column.
        "confidence": None if confidence is None else Decimal(repr(confidence)),
        "response_ms": request.response_ms,
        "first_option_id": request.first_option_id,
        "predicted_peer_option_id": request.predicted_peer_option_id,
        "self_predicted_option_id": request.self_predicted_option_id,
        "stimuli": json_value(scenario.stimuli.to_json()),
        "retest_of": new.retest_of,
        "outcome_of": new.outcome_of,
        "now": new.now,
    }
    tx.execute(_Q["add_decision"], values)
    closed = {"user_id": new.user_id, "scenario_id": scenario.id, "decision_id": new.id}
    tx.execute(_Q["close_serving"], closed)
    stored = decision(tx, new.user_id, new.id)
    assert stored is not None  # it was stored a moment ago
    return stored


def add_missing_snapshot(tx: Transaction, user_id: UUID, decision_id: UUID) -> None:
    """Count a decision whose profile before it is gone. Raises ForeignKeyViolated for nobody."""
    tx.execute(_Q["add_missing_snapshot"], {"decision_id": decision_id, "user_id": user_id})


def stored_profile(tx: Transaction, user_id: UUID) -> PlayerDecisionProfile | None:
    """The owner's stored profile; None without one."""
    row = profile_row(tx, user_id)
    return None if row is None else read_stored(row)
