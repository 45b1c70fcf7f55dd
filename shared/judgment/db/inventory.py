"""The inventory of owner data (ruling 33): export, erasure and the isolation test walk it.

A migration that adds a table with an owner's rows adds it here, or to `EXEMPT` with the reason; a
test walks the database's own catalogue and names the table that is in neither. The order is the
order of erasure: what hangs on another row comes before it.

Where a Sync app made a table, its rows are that app's to erase; erasing clears the columns that
are ours (`ours_on_sync`). What stays after an erasure is in docs/database.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.db.owner_table import WHOLE_ROW, OwnerTable

if TYPE_CHECKING:
    from judgment.db.connection import Transaction


def _born_with(ours: str) -> str:
    """When a row of a Sync app's table came to be: with the row of ours beside it, or before us."""
    return f"coalesce(({ours}), '-infinity')"


__all__ = ["EXEMPT", "INVENTORY", "ExportedRow", "OwnerTable", "erase_owner", "export_page"]

INVENTORY: tuple[OwnerTable, ...] = (
    OwnerTable(
        "public.evaluation_predictions",
        owner="evaluation_snapshots.user_id",
        whose="snapshot_id IN"
        " (SELECT s.id FROM public.evaluation_snapshots s WHERE s.user_id = %(user_id)s)",
        columns=(
            *("id", "snapshot_id", "condition", "predicted_option_id", "predicted_rationale"),
            *("eval_model", "eval_model_version", "choice_agreement", "rationale_similarity"),
            "created_at",
        ),
    ),
    OwnerTable(
        "public.evaluation_snapshots",
        owner="user_id",
        columns=(
            *("id", "choice_id", "user_id", "profile_state", "personal_context_snapshot"),
            *("personal_context_sha256", "created_at"),
        ),
    ),
    OwnerTable(
        "judgment.servings",
        owner="user_id",
        columns=(
            *("id", "user_id", "scenario_id", "retest_of", "outcome_of", "served_at"),
            *("decision_id", "created_at"),
        ),
    ),
    OwnerTable(
        "judgment.decisions",
        owner="user_id",
        columns=(
            *("id", "user_id", "scenario_id", "scenario_title", "category", "theme", "options"),
            *("chosen_option_id", "chosen_label", "rationale", "confidence", "response_ms"),
            *("first_option_id", "predicted_peer_option_id", "self_predicted_option_id"),
            *("stimuli", "retest_of", "outcome_of", "source", "recorded_at", "created_at"),
        ),
    ),
    OwnerTable(
        "public.choices",
        owner="user_id",
        columns=("id", "user_id"),
        since=_born_with("SELECT d.created_at FROM judgment.decisions d WHERE d.id = choices.id"),
        withheld={"created_at": "In judgment.decisions; a Sync app's table may lack it."},
        of_sync=True,
    ),
    OwnerTable(
        "public.scenarios",
        owner="personalized_for_user_id",
        whose="personalized_for_user_id = %(user_id)s OR id IN (SELECT c.scenario_id"
        " FROM judgment.scenario_contents c WHERE c.owner_user_id = %(user_id)s)",
        columns=(
            *("id", "theme", "category", "personalized_for_user_id"),
            "personalization_inputs_hash",
        ),
        since=_born_with(
            "SELECT c.created_at FROM judgment.scenario_contents c"
            " WHERE c.scenario_id = scenarios.id"
        ),
        withheld={
            "created_at": "In judgment.scenario_contents; a Sync app's table may lack it.",
        },
        of_sync=True,
    ),
    OwnerTable(
        "judgment.scenario_contents",
        owner="owner_user_id",
        columns=(
            *("scenario_id", "owner_user_id", "title", "description", "options", "constraints"),
            *("stimuli", "library_key", "content_sha256", "archived", "created_at"),
        ),
        key=("scenario_id", "uuid"),
    ),
    OwnerTable(
        "public.agent_api_keys",
        owner="user_id",
        columns=(
            *("id", "user_id", "name", "prefix", "last4", "scopes", "created_at", "expires_at"),
            *("last_used_at", "revoked_at"),
        ),
        withheld={"key_hash": "It verifies a credential and tells its owner nothing."},
    ),
    OwnerTable(
        "judgment.profile_state",
        owner="user_id",
        columns=("user_id", "score_owner", "updated_at"),
        key=("user_id", "uuid"),
        since="",
    ),
    OwnerTable(
        "judgment.profile_accumulators",
        owner="user_id",
        columns=("user_id", "part", "version", "state", "updated_at"),
        key=("part", "text"),
        since="",
    ),
    OwnerTable(
        "judgment.profile_marks",
        owner="user_id",
        columns=("user_id", "key", "value"),
        key=("key", "text"),
        since="",
    ),
    OwnerTable(
        "judgment.summary_state",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("user_id", "uuid"),
        since="",
    ),
    OwnerTable(
        "judgment.model_calls",
        owner="user_id",
        columns=WHOLE_ROW,
    ),
    OwnerTable(
        "judgment.owner_models",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("role", "text"),
        since="",
    ),
    OwnerTable(
        "judgment.missing_snapshots",
        owner="user_id",
        columns=("decision_id", "user_id", "created_at"),
        key=("decision_id", "uuid"),
    ),
    OwnerTable(
        "judgment.personal_context_state",
        owner="user_id",
        columns=("user_id", "updated_at"),
        key=("user_id", "uuid"),
        since="",
    ),
    OwnerTable(
        "judgment.preference_ledger",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("position", "bigint"),
    ),
    OwnerTable(
        "judgment.consent_events",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("position", "bigint"),
    ),
    OwnerTable(
        "judgment.preference_documents",
        owner="user_id",
        columns=("user_id", "platform", "digest", "document", "updated_at"),
        key=("platform", "text"),
        since="",
    ),
    OwnerTable(
        "judgment.preference_signals",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("position", "bigint"),
    ),
    OwnerTable(
        "judgment.preference_state",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("user_id", "uuid"),
        since="",
    ),
    OwnerTable(
        "judgment.approvals",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("request_id", "uuid"),
    ),
    OwnerTable(
        "judgment.projects",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("id", "text"),
    ),
    OwnerTable(
        "judgment.conversation_messages",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("conversation_id || ' ' || lpad(position::text, 10, '0')", "text"),
    ),
    OwnerTable(
        "judgment.conversations",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("id", "text"),
    ),
    OwnerTable(
        "judgment.memory_imports",
        owner="user_id",
        columns=("user_id", "import_id", "part", "created_at"),
        key=("import_id::text || ' ' || lpad(part::text, 10, '0')", "text"),
        withheld={"content": "Not taken in yet; what it becomes is in the other tables."},
    ),
    OwnerTable(
        "judgment.memory_files",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("path", "text"),
        since="",
    ),
    OwnerTable(
        "judgment.memory_revisions",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("lpad(revision::text, 20, '0') || ' ' || path", "text"),
    ),
    OwnerTable(
        "judgment.memory_commits",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("revision", "bigint"),
    ),
    OwnerTable(
        "judgment.memory_blobs",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("sha256", "text"),
    ),
    OwnerTable(
        "judgment.memory_state",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("user_id", "uuid"),
    ),
    OwnerTable(
        "public.player_decision_profiles",
        owner="user_id",
        columns=WHOLE_ROW,
        key=("user_id", "uuid"),
        since="",
        of_sync=True,
        ours_on_sync=(
            *("summary_text", "summary_generated_at", "summary_model_version"),
            "agent_context_block",
        ),
    ),
    OwnerTable(
        "judgment.outbox",
        owner="user_id",
        columns=(
            *("id", "type", "version", "user_id", "subject_id", "correlation_id", "created_at"),
            *("attempts", "sent_at"),
        ),
    ),
    OwnerTable(
        "judgment.idempotency_keys",
        owner="user_id",
        columns=("user_id", "key", "route", "body_sha256", "status", "response", "created_at"),
        key=("route || ' ' || key", "text"),
    ),
    OwnerTable(
        "judgment.owners",
        owner="user_id",
        columns=(
            *("user_id", "issuer", "subject", "agent_access_enabled", "is_test_account"),
            "created_at",
        ),
        key=("user_id", "uuid"),
        since="",
    ),
    OwnerTable(
        "public.profiles",
        owner="id",
        columns=("id", "sync_score", "personal_context", "onboarding_lightbox_dismissed_at"),
        since="",
        withheld={
            "created_at": "In judgment.owners; a Sync app's table may lack it.",
            "updated_at": "Bookkeeping; a Sync app's table may lack it.",
        },
        of_sync=True,
        ours_on_sync=("personal_context", "onboarding_lightbox_dismissed_at"),
    ),
)

EXEMPT: Mapping[str, str] = {
    "auth.users": "The person's id itself: judgment.forget_owner() deletes it where it is ours.",
    "public.agent_feature_flags": "An admin's record of whom they switched off; it outlives a"
    " person's erasure, so that coming back does not undo it.",
}


@dataclass(frozen=True)
class ExportedRow:
    """A row, and its key, after which the next page starts.

    `row` is a JSON object as Postgres writes it: what an older app stored may hold numbers that no
    parser of ours takes.
    """

    key: str
    row: str


def export_page(
    tx: Transaction,
    table: OwnerTable,
    user_id: UUID,
    *,
    as_of: datetime,
    after: str | None,
    limit: int,
) -> list[ExportedRow]:
    """Up to `limit` rows of one table that were there `as_of`, in the order of their keys.

    Raises DatabaseError when `after` is not a key of that table.
    """
    rows = tx.all(table.page, {"user_id": user_id, "as_of": as_of, "after": after, "limit": limit})
    return [ExportedRow(row["key"], row["document"]) for row in rows]


def erase_owner(tx: Transaction, user_id: UUID) -> dict[str, int]:
    """Erase everything of the transaction's owner; rows touched by table, in that order.

    Run it as judgment_owner in a transaction of `user_id`. Erasing twice is harmless. Raises
    ValueError in a transaction of somebody else.
    """
    if tx.value("SELECT judgment.current_owner()") != user_id:
        raise ValueError("The transaction acts for another owner.")
    made = {row["name"] for row in tx.all("SELECT name FROM judgment.baseline_objects")}
    touched: dict[str, int] = {}
    for table in INVENTORY:
        statement = table.erasure
        if table.of_sync and table.name not in made:
            statement = table.clearing
        if statement:
            touched[table.name] = tx.execute(statement, {"user_id": user_id})
    touched["auth.users"] = int(bool(tx.value("SELECT judgment.forget_owner()")))
    return touched
