"""One regeneration: claim, read, ask a model or none, check, and write it all in one transaction.

No transaction is open while a model thinks. Whatever dies in between leaves a claim whose lease
runs out, which the sweep takes up in the next window; so a window never pays twice. A move made
meanwhile is the trailing edge of the debounce. The kill points `summary.*` let a test die there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from judgment.db.errors import ForeignKeyViolated
from judgment.kit.clock import Clock, utc_now
from judgment.kit.killpoints import reach
from judgment.llm.model import TRANSIENT, ModelFailure
from judgment.profile.composer import VERSION, Composition, compose
from judgment.profile.movement import components
from judgment.profile.service import read_stored
from judgment.profile.store import profile_row
from judgment.summary import debounce, moves, store
from judgment.summary.facts import facts_of
from judgment.summary.model import Finished, Written
from judgment.summary.prompt import prompt_of
from judgment.summary.texts import worded
from judgment.summary.verify import codes, complaints

if TYPE_CHECKING:
    from judgment.contract.models import ModelRole
    from judgment.db.connection import Transaction
    from judgment.kit.deadline import Deadline
    from judgment.llm.model import FailureCode, ModelCall, ModelChoice, Models
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.queue.outbox import Begin
    from judgment.summary.model import Claim, State

Ending = Literal["written", "unmoved", "nothing_due", "later", "gone", "superseded"]

ROLE: ModelRole = "summary"
WRITING_SECONDS = 10.0
"""Kept of the deadline for what comes after the model's answer."""
RETRIES = 3
"""How often in a row a model that could not be reached is asked again without a move."""
VERSION_LIMIT = 160
_NOT_IN_VERSION = re.compile(r"[^A-Za-z0-9._:/@+-]")


@dataclass(frozen=True)
class Accounts:
    """Whose model, and what it cost: the owner's own choice for a role, and where calls are kept.

    Both run in the transaction they are handed; `judgment.llm` has them.
    """

    own_choice: Callable[[Transaction, UUID, ModelRole], ModelChoice | None]
    record_calls: Callable[[Transaction, UUID, Sequence[ModelCall]], None]


@dataclass(frozen=True)
class Regenerated:
    """How it ended. `look_at`: send a wake-up for then.

    `later`: it was too early, or somebody is at it. `unmoved`: the last texts still hold.
    `gone`: the owner was erased. `superseded`: the lease ran out and somebody else has begun.
    `failure` and `complaints` say in codes why the texts are composer-1's although a model was
    asked.
    """

    ending: Ending
    look_at: datetime | None = None
    version: str | None = None
    failure: FailureCode | None = None
    complaints: tuple[str, ...] = ()
    calls: int = 0


@dataclass(frozen=True)
class _Task:
    """What was claimed, and what it starts from."""

    user_id: UUID
    claimed: Claim
    state: State
    profile: PlayerDecisionProfile
    has_row: bool
    own: ModelChoice | None


@dataclass(frozen=True)
class _Draft:
    """Texts to write, and how they came about."""

    texts: Composition = field(repr=False)
    version: str = VERSION
    failure: FailureCode | None = None
    complaints: tuple[str, ...] = ()
    calls: Sequence[ModelCall] = ()


class _Superseded(Exception):
    """The claim is no longer the last one; nothing may be written."""


class Regeneration:
    """Writes summaries as judgment_worker, one owner at a time."""

    def __init__(
        self,
        begin: Begin,
        accounts: Accounts,
        models: Models,
        *,
        clock: Clock = utc_now,
        window: timedelta = debounce.WINDOW,
    ):
        self._begin = begin
        self._accounts = accounts
        self._models = models
        self._clock = clock
        self._window = window

    def run(self, user_id: UUID, deadline: Deadline) -> Regenerated:
        """Renew the owner's texts if that is due. Raises Unavailable when Postgres is down.

        A model that fails costs its texts and nothing else: composer-1 writes them.
        """
        task = self._claim(user_id)
        if isinstance(task, Regenerated):
            return task
        reach("summary.claimed")
        if not _is_called_for(task):
            return self._leave(task)
        draft = self._draft(task, deadline.less(WRITING_SECONDS))
        reach("summary.answered")
        try:
            look_at = self._write(task, draft)
        except ForeignKeyViolated:
            return Regenerated("gone", calls=len(draft.calls))
        except _Superseded:
            return self._account_for(task, draft)
        reach("summary.after_commit")
        return _ended("written", draft, look_at)

    def _claim(self, user_id: UUID) -> _Task | Regenerated:
        with self._begin(user_id) as tx:
            claimed = debounce.claim(tx, user_id, self._clock())
            if claimed is None:
                look_at = debounce.next_look(tx, user_id)
                return Regenerated("nothing_due" if look_at is None else "later", look_at)
            state = store.lock_state(tx, user_id)
            row = profile_row(tx, user_id)
            own = self._accounts.own_choice(tx, user_id, ROLE)
        assert state is not None  # it was claimed in this transaction
        return _Task(user_id, claimed, state, read_stored(row), row is not None, own)

    def _leave(self, task: _Task) -> Regenerated:
        """Close a claim that needs no new texts."""
        with self._begin(task.user_id) as tx:
            debounce.finish(tx, task.user_id, task.claimed, None, self._clock())
        return Regenerated("unmoved" if task.has_row else "gone")

    def _draft(self, task: _Task, deadline: Deadline) -> _Draft:
        plain = compose(task.profile)
        facts = facts_of(task.profile, plain.observations)
        choice = self._models.choice(ROLE, task.own)
        if choice is None or not facts.by_id:
            return _Draft(plain)
        try:
            answer = self._models.ask(
                choice,
                ROLE,
                prompt_of(facts),
                Written,
                deadline=deadline,
                check=lambda written: complaints(written, facts),
            )
        except ModelFailure as failure:
            return _Draft(
                plain, VERSION, failure.code, codes(failure.complaints), tuple(failure.calls)
            )
        texts = worded(task.profile, plain.observations, facts, answer.value)
        version = _NOT_IN_VERSION.sub("?", answer.model_version)[:VERSION_LIMIT]
        return _Draft(texts, version, calls=answer.calls)

    def _write(self, task: _Task, draft: _Draft) -> datetime | None:
        """All of it or nothing; when to look again for a model that could not be reached."""
        now, user_id = self._clock(), task.user_id
        finished = Finished(
            components(task.profile),
            task.profile.games_analyzed,
            draft.failure,
            task.state.failures + 1 if draft.failure else 0,
        )
        with self._begin(user_id) as tx:
            self._accounts.record_calls(tx, user_id, draft.calls)
            # The profile's row before the state's, as rounds lock them.
            store.write_texts(tx, user_id, draft.texts, version=draft.version, now=now)
            if not debounce.finish(tx, user_id, task.claimed, finished, now):
                raise _Superseded
            look_at = self._retried(tx, task, finished, now)
            reach("summary.before_commit")
        return look_at

    def _retried(
        self, tx: Transaction, task: _Task, finished: Finished, now: datetime
    ) -> datetime | None:
        if finished.last_failure not in TRANSIENT or finished.failures > RETRIES:
            return None
        state = store.lock_state(tx, task.user_id)
        if state is None or state.run_after is not None:
            return None  # a move made meanwhile asks anyhow
        due = debounce.request(
            tx, task.user_id, task.claimed.correlation_id, now, self._window, is_retry=True
        )
        return due.run_after

    def _account_for(self, task: _Task, draft: _Draft) -> Regenerated:
        """What was spent is recorded although its texts came too late."""
        with self._begin(task.user_id) as tx:
            if store.lock_state(tx, task.user_id) is None:
                return Regenerated("gone", calls=len(draft.calls))
            self._accounts.record_calls(tx, task.user_id, draft.calls)
        return _ended("superseded", draft, None)


def _is_called_for(task: _Task) -> bool:
    """Whether the texts are missing, a model still owes them, or the profile has moved."""
    profile, state = task.profile, task.state
    if not task.has_row or not profile.games_analyzed:
        return False
    if profile.summary_text is None or profile.agent_context_block is None:
        return True
    return state.last_failure is not None or moves.is_move(moves.distance(state, profile))


def _ended(ending: Ending, draft: _Draft, look_at: datetime | None) -> Regenerated:
    return Regenerated(
        ending, look_at, draft.version, draft.failure, draft.complaints, len(draft.calls)
    )
