"""An owner whose summary is renewed in a test's database, by scripted models and a set clock."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row

from judgment.db.connection import Database
from judgment.kit.deadline import Deadline
from judgment.kit.ids import new_id
from judgment.llm import store as model_rows
from judgment.profile import store as profile_rows
from judgment.summary import debounce
from judgment.summary.model import Sentence, Written
from judgment.summary.moves import request_if_moved
from judgment.summary.regenerate import Accounts, Regeneration
from tests.fakes.people import make_owner, run_as_admin

if TYPE_CHECKING:
    from judgment.llm.model import ModelChoice, Models, Said
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.summary.moves import Moved
    from judgment.summary.regenerate import Regenerated
    from tests.databases import TestDatabase

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=10)
MARK = "On record: "
"""What every sentence of the truthful script begins with, and none of composer-1's."""


def told_facts(told: str) -> list[dict[str, str]]:
    """The facts in a prompt, or in all prompts of one conversation."""
    found = re.search(r"<facts>\n(.*?)\n</facts>", told, re.DOTALL)
    assert found, "no facts in the prompt"
    return json.loads(json.loads(found[1]))["facts"]


def truthful(told: str) -> Written:
    """The facts as they are, said by somebody else."""
    said = [Sentence(text=MARK + f["text"], facts=[f["id"]]) for f in told_facts(told)]
    return Written(summary=said[:6], block=said[:30])


def lying(told: str) -> Written:
    """The truth and one number nobody counted."""
    written = truthful(told)
    lie = Sentence(text=MARK + "right in 731 of 732 cases.", facts=written.summary[0].facts)
    return Written(summary=[*written.summary[:5], lie], block=written.block)


def said_by(script: Callable[[str], Written]) -> Callable[[Any, Sequence[Said], Any], Written]:
    """The script for `tests.fakes.models.ScriptedModels`."""
    return lambda role, prompt, shape: script("\n".join(said.text for said in prompt[:2]))


class Summarised:
    """One owner, the worker that writes their summary, and a clock that only a test moves."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.owner = Database(database.url("judgment_owner"))
        self.worker = Database(database.url("judgment_worker"))
        self.user_id = make_owner(database)
        self.now = START

    def accounts(self, own: ModelChoice | None = None) -> Accounts:
        """The real record of calls, and a choice of the owner's."""
        return Accounts(
            lambda tx, user_id, role: own, partial(model_rows.record_calls, new_id=new_id)
        )

    def regeneration(self, models: Models, own: ModelChoice | None = None) -> Regeneration:
        """The use case as the worker runs it."""
        return Regeneration(
            self.worker.transaction,
            self.accounts(own),
            models,
            clock=lambda: self.now,
            window=WINDOW,
        )

    def run(self, models: Models, seconds: float = 60) -> Regenerated:
        """One wake-up."""
        return self.regeneration(models).run(self.user_id, Deadline.after(seconds))

    def pass_time(self, **how_much: float) -> None:
        """Move the clock."""
        self.now += timedelta(**how_much)

    def save(self, profile: PlayerDecisionProfile, correlation_id: str = "c") -> Moved:
        """The profile after a round, and what that asks for, in one transaction."""
        with self.owner.transaction(self.user_id) as tx:
            profile_rows.save_progress(tx, self.user_id, profile, 50.0, says_when=False)
            return request_if_moved(tx, self.user_id, profile, correlation_id, self.now, WINDOW)

    def request(self) -> None:
        """A move, whatever the profile says."""
        with self.owner.transaction(self.user_id) as tx:
            debounce.request(tx, self.user_id, "c", self.now, WINDOW)

    def erase(self) -> None:
        """What DELETE /api/v1/account does."""
        with self.owner.transaction(self.user_id) as tx:
            tx.execute("SELECT judgment.forget_owner()")

    def texts(self) -> dict[str, Any]:
        """What is stored of the summary."""
        return self._row(
            "SELECT summary_text, agent_context_block, summary_model_version, summary_generated_at"
            " FROM public.player_decision_profiles WHERE user_id = %s"
        )

    def state(self) -> dict[str, Any]:
        """The debounce's row."""
        return self._row("SELECT * FROM judgment.summary_state WHERE user_id = %s")

    def calls(self) -> list[str]:
        """Outcomes of the recorded model calls, sorted."""
        row = self._row(
            "SELECT array_agg(outcome ORDER BY outcome) AS found FROM judgment.model_calls"
            " WHERE user_id = %s"
        )
        return row["found"] or []

    def execute(self, statement: str, *params: object) -> None:
        """As the superuser."""
        run_as_admin(self.database, statement, *params)

    def close(self) -> None:
        """Close both connections."""
        self.owner.close()
        self.worker.close()

    def _row(self, query: str) -> dict[str, Any]:
        with psycopg.connect(self.database.admin_url, row_factory=dict_row) as admin:
            return admin.execute(query.encode(), (self.user_id,)).fetchone() or {}


def message_of(user_id: uuid.UUID, correlation_id: str = "c") -> str:
    """A wake-up's body."""
    return json.dumps({"user_id": str(user_id), "correlation_id": correlation_id})
