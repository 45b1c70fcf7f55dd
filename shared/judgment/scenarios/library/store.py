"""The library in Postgres. Every function takes the loader's open transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.queries import load_queries
from judgment.kit.hashing import digest
from judgment.scenarios.model import scenario_columns
from judgment.scenarios.store import scenario_values

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.scenarios.model import Scenario

QUERIES = load_queries("judgment.scenarios.library")
_LOCK = 0x6C696272  # "libr"
_KNOWN = (
    *("id", "theme", "category", "created_at"),
    *("personalized_for_user_id", "personalization_inputs_hash"),
)


@dataclass(frozen=True)
class Loaded:
    """What the database has of one scenario of the library."""

    scenario_id: UUID
    content_sha256: str
    archived: bool


@dataclass(frozen=True)
class ForeignColumn:
    """A column of a Sync app's scenarios; `required`: it takes no row without a value for it."""

    name: str
    required: bool


def wait_for_turn(tx: Transaction) -> None:
    """Let no other loader in before this transaction ends."""
    tx.value(QUERIES["alone"], {"lock": _LOCK})


def is_ours(tx: Transaction) -> bool:
    """Whether our own baseline made `public.scenarios`."""
    return tx.value(QUERIES["made_here"]) is True


def foreign_columns(tx: Transaction) -> list[ForeignColumn]:
    """The columns of `public.scenarios` that the library has no values for."""
    rows = tx.all(QUERIES["foreign_columns"], {"known": list(_KNOWN)})
    return [ForeignColumn(row["name"], row["required"]) for row in rows]


def loaded(tx: Transaction) -> dict[str, Loaded]:
    """What is there, by key."""
    return {
        row["library_key"]: Loaded(row["scenario_id"], row["content_sha256"], row["archived"])
        for row in tx.all(QUERIES["loaded"])
    }


def content_digest(scenario: Scenario) -> str:
    """SHA-256 over all that is stored of it."""
    columns = scenario_columns(scenario)
    return digest({**columns, "scenario_id": str(scenario.id)})


def add(tx: Transaction, scenarios: Sequence[Scenario]) -> None:
    """Insert these; none of their ids may have contents yet."""
    rows = [_row(scenario) for scenario in scenarios]
    tx.many(QUERIES["add_scenario"], rows)
    tx.many(QUERIES["add_contents"], rows)


def change(tx: Transaction, scenarios: Sequence[Scenario]) -> None:
    """Write these over what is there by their ids."""
    rows = [_row(scenario) for scenario in scenarios]
    tx.many(QUERIES["change_scenario"], rows)
    tx.many(QUERIES["change_contents"], rows)


def archive(tx: Transaction, scenario_ids: Collection[UUID]) -> None:
    """Have these never served again."""
    tx.execute(QUERIES["archive"], {"scenario_ids": list(scenario_ids)})


def _row(scenario: Scenario) -> dict[str, Any]:
    return {
        **scenario_values(scenario),
        "library_key": scenario.key,
        "content_sha256": content_digest(scenario),
    }
