"""Owners' choices of models and the record of calls; each runs in the transaction it is handed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import ValidationError

from judgment.contract.models import OwnModel
from judgment.db.queries import load_queries

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.kit.ids import IdFactory
    from judgment.llm.model import ModelCall

QUERIES = load_queries("judgment.llm")


def own_models(tx: Transaction, user_id: UUID) -> list[OwnModel]:
    """What the owner chose, by role; a row that no owner could have written is passed over."""
    rows = tx.all(QUERIES["owner_models"], {"user_id": user_id})
    return [model for row in rows if (model := _own_model(row)) is not None]


def replace_own_models(tx: Transaction, user_id: UUID, models: Sequence[OwnModel]) -> None:
    """These choices instead of all earlier ones; concurrent writers go one after the other."""
    tx.execute(QUERIES["lock_owner"], {"user_id": str(user_id)})
    tx.execute(QUERIES["forget_owner_models"], {"user_id": user_id})
    rows = [{"user_id": user_id, **model.model_dump()} for model in models]
    if rows:
        tx.many(QUERIES["insert_owner_model"], rows)


def record_calls(
    tx: Transaction, user_id: UUID, calls: Sequence[ModelCall], new_id: IdFactory
) -> None:
    """Put the calls made for an owner on record, in the transaction that ends the work."""
    rows = [{"id": new_id(), "user_id": user_id, **asdict(call)} for call in calls]
    if rows:
        tx.many(QUERIES["insert_call"], rows)


def _own_model(row: dict[str, object]) -> OwnModel | None:
    try:
        return OwnModel.model_validate(row)
    except ValidationError:
        return None
