"""The statements of personal context and personal rounds; each runs in the transaction it gets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from judgment.contract.profile import CATEGORIES, Category
from judgment.db.queries import load_queries
from judgment.scenarios.model import Scenario, scenario_from_row
from judgment.scenarios.store import scenario_values

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.scenarios.personal.domain import Evidence

_Q = load_queries("judgment.scenarios.personal")
_V = TypeVar("_V")

_SUPPORTS = {
    "reasoning_style_distribution": "rationales",
    "attention_distribution": "rationales",
    "authenticity": "rationales",
    "confidence_calibration": "confidences",
    "timing_signature": "timings",
    "dissent_profile": "majorities",
    "peer_reading": "peer_predictions",
    "persuadability": "first_choices",
    "self_awareness": "self_predictions",
}
"""Which count of `evidence_by_domain` supports which signal."""


def lock_context(tx: Transaction, user_id: UUID) -> str | None:
    """The text, its row held until the transaction ends; None without such an owner."""
    tx.value(_Q["lock_owner"], {"user_id": user_id})
    return tx.value(_Q["lock_context"], {"user_id": user_id})


def context_as_shown(tx: Transaction, user_id: UUID) -> Mapping[str, Any] | None:
    """The text with updated_at, dismissed, games_analyzed (0 without a profile), is_sync_profile.

    None without such an owner.
    """
    return tx.one(_Q["context_as_shown"], {"user_id": user_id})


def write_context(tx: Transaction, user_id: UUID, text: str) -> None:
    """Store the text and the moment; nothing where there is no such owner."""
    if tx.execute(_Q["write_context"], {"user_id": user_id, "text": text}):
        tx.execute(_Q["note_context_written"], {"user_id": user_id})


def dismiss_lightbox(tx: Transaction, user_id: UUID) -> bool:
    """Note that the prompt was seen, keeping an earlier note; False without such an owner."""
    return tx.execute(_Q["dismiss_lightbox"], {"user_id": user_id}) == 1


def forget_context_copies(tx: Transaction, user_id: UUID) -> None:
    """Null the copies in snapshots, keeping digests, and remove unanswered personal rounds.

    Where a Sync app made the table of scenarios its row stays: an id, theme, category and digest.
    """
    owner = {"user_id": user_id}
    tx.execute(_Q["forget_snapshot_texts"], owner)
    ids = [row["id"] for row in tx.all(_Q["unanswered_personal"], owner)]
    if not ids:
        return
    rounds = {"user_id": user_id, "ids": ids}
    tx.execute(_Q["drop_servings"], rounds)
    tx.execute(_Q["drop_contents"], rounds)
    if tx.value(_Q["may_drop_scenarios"]):
        tx.execute(_Q["drop_scenarios"], rounds)


def made_by_domain(tx: Transaction, user_id: UUID) -> dict[Category, int]:
    """How many personal rounds the owner has, by domain; a domain without any is absent."""
    rows = tx.all(_Q["made_by_domain"], {"user_id": user_id})
    return _by_domain({row["category"]: row["rounds"] for row in rows})


def evidence_by_domain(tx: Transaction, user_id: UUID) -> Evidence:
    """How many decisions support each signal, by domain."""
    rows = tx.all(_Q["evidence_by_domain"], {"user_id": user_id})
    return _by_domain(
        {
            row["category"]: {signal: row[count] for signal, count in _SUPPORTS.items()}
            for row in rows
        }
    )


def add_personal(tx: Transaction, scenario: Scenario, inputs_sha256: str) -> None:
    """Store a round for its owner."""
    values = scenario_values(scenario)
    tx.execute(_Q["add_scenario"], {**values, "inputs_sha256": inputs_sha256})
    tx.execute(_Q["add_contents"], values)


def fallback(tx: Transaction, user_id: UUID, category: Category) -> Scenario | None:
    """A canonical round that the owner was never shown, of that domain where there is one."""
    rows = tx.all(_Q["fallbacks"], {"user_id": user_id, "category": category})
    return next((found for row in rows if (found := scenario_from_row(row))), None)


def serve(
    tx: Transaction, user_id: UUID, scenario_id: UUID, serving_id: UUID, at: datetime
) -> None:
    """Note that the round was shown."""
    shown = {"id": serving_id, "user_id": user_id, "scenario_id": scenario_id, "served_at": at}
    tx.execute(_Q["serve"], shown)


def _by_domain(found: Mapping[str, _V]) -> dict[Category, _V]:
    """Without rows of a Sync app that name none of the four."""
    return {category: found[category] for category in CATEGORIES if category in found}
