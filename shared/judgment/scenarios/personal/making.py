"""A fresh round about the owner's own life, made by a model or, where that fails, a canonical one.

Three steps, and no transaction open in between: read what it is made from; count the request and
ask the model (which may mend its answer once); store the round with every model call that was
made. An owner who is counted gets a round, unless the library itself holds none for them, the
database is gone, or they emptied their context while the model was writing: then nothing made from
it is kept. A death between the steps costs one of the day's requests and leaves nothing half
written. Seed 000 §8, rulings 5, 32.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.jobs import Event
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import Conflict, InvalidRequest, NotFound, Unavailable
from judgment.kit.hashing import digest, sha256_hex
from judgment.kit.ids import IdFactory, new_id
from judgment.kit.killpoints import reach
from judgment.llm.model import FailureCode, ModelFailure
from judgment.llm.store import record_calls
from judgment.queue import outbox
from judgment.queue.bus import SENDING_SECONDS
from judgment.scenarios.model import Scenario, to_wire
from judgment.scenarios.personal import prompt, store, wording
from judgment.scenarios.personal.domain import Target, choose
from judgment.scenarios.personal.scaffold import SHAPES, Draft, assembled
from judgment.scenarios.refusals import NO_OWNER, SYNCS_OWN
from judgment.scenarios.rules import Complaint
from judgment.scenarios.rules import complaints as broken_rules

if TYPE_CHECKING:
    from judgment.access.limits import Limit, RateLimiter
    from judgment.contract.models import ModelRole
    from judgment.contract.profile import Category
    from judgment.contract.rounds import Scenario as WireScenario
    from judgment.db.connection import Transaction
    from judgment.kit.deadline import Deadline
    from judgment.llm.model import ModelCall, ModelChoice, Models
    from judgment.queue.bus import EventBus

ROLE: ModelRole = "scenario"
DAY = 86_400
RESERVE_SECONDS = 3.0
"""Kept of the invocation for storing what came of it."""

_EMPTY = (
    "Your personal context is empty. Write about your life and work with"
    " PUT /api/v1/personal-context first."
)
_NO_MODEL = "No model makes personal scenarios here: the operator has not set MODEL_SCENARIO."
_NO_KEY = (
    "The model for your personal scenarios cannot be asked: the key named with"
    " PUT /api/v1/models, or the operator's, cannot be read."
)
_NOTHING_LEFT = "No scenario could be made, and none of the canonical ones is left for you."

OwnChoice = Callable[["Transaction", UUID, "ModelRole"], "ModelChoice | None"]
"""The model that an owner chose for a role, where they may use it now."""


@dataclass(frozen=True)
class FellBack:
    """Why no round was made: a failure's code, and which rules the last answer broke."""

    code: FailureCode
    complaints: tuple[str, ...]
    model: str
    category: Category


@dataclass(frozen=True)
class _Order:
    """What a round is to be made from, and by whom."""

    owner: UUID
    context: str
    target: Target
    choice: ModelChoice

    @property
    def inputs_sha256(self) -> str:
        """Fingerprint of the context and settings; it gives nothing of the context away."""
        return digest(
            {
                "context_sha256": sha256_hex(self.context),
                "category": self.target.category,
                "stimulus": self.target.stimulus,
                "model": self.choice.label,
                "prompt": prompt.VERSION,
            }
        )


@dataclass(frozen=True)
class _Made:
    """What came of asking: a round or a failure, and the calls in any case."""

    scenario: Scenario | None
    calls: tuple[ModelCall, ...]
    fell_back: FellBack | None = None


class PersonalRounds:
    """The use case of making a round. `begin` opens transactions as `judgment_owner`."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        models: Models,
        own_choice: OwnChoice,
        limiter: RateLimiter,
        limit: Limit,
        bus: EventBus,
        clock: Clock = utc_now,
        ids: IdFactory = new_id,
    ):
        self._begin = begin
        self._models = models
        self._own_choice = own_choice
        self._limiter = limiter
        self._limit = limit
        self._bus = bus
        self._clock = clock
        self._ids = ids

    def make(
        self,
        owner: UUID,
        correlation_id: str,
        deadline: Deadline,
        on_fallback: Callable[[FellBack], None],
    ) -> WireScenario:
        """A round the owner was never shown, stored. Each call makes another one.

        `on_fallback` hears of every answer of a model that could not be used.

        Not counted: InvalidRequest for an empty context, Conflict where a Sync app keeps the
        profile, NotFound, Unavailable without a model, its key or counters, RateLimited. Counted:
        InvalidRequest when the context was emptied meanwhile, Unavailable without the database or
        a canonical round to fall back to.
        """
        order = self._ordered(owner)
        if not self._models.ready(order.choice):
            raise Unavailable(_NO_KEY)
        self._limiter.require_counted(str(owner), self._limit)
        made = self._asked(order, deadline.less(RESERVE_SECONDS))
        if made.fell_back is not None:
            on_fallback(made.fell_back)
        reach("scenario.answered")
        scenario, event = self._stored(order, made, correlation_id)
        if event is not None and deadline.remaining() > SENDING_SECONDS:
            outbox.publish(self._begin, self._bus, [event])
        return to_wire(scenario, retest=False, outcome=None)

    def _ordered(self, owner: UUID) -> _Order:
        with self._begin(owner) as tx:
            row = store.context_as_shown(tx, owner)
            if row is None:
                raise NotFound(NO_OWNER)
            context: str = row["personal_context"]
            if not context.strip():
                raise InvalidRequest(_EMPTY)
            if row["is_sync_profile"]:
                raise Conflict(SYNCS_OWN)
            choice = self._models.choice(ROLE, self._own_choice(tx, owner, ROLE))
            if choice is None:
                raise Unavailable(_NO_MODEL)
            made = store.made_by_domain(tx, owner)
            target = choose(made, store.evidence_by_domain(tx, owner))
        return _Order(owner, context, target, choice)

    def _asked(self, order: _Order, deadline: Deadline) -> _Made:
        scenario_id = self._ids()
        told = prompt.prompt(order.target, order.context)
        last: list[Complaint] = []

        def check(draft: Draft) -> list[str]:
            scenario = assembled(draft, order.target, scenario_id, order.owner)
            last[:] = [
                *broken_rules(scenario),
                *wording.complaints(scenario, order.context, told[0].text),
            ]
            return [complaint.sentence for complaint in last]

        shape = SHAPES[order.target.stimulus]
        try:
            answer = self._models.ask(
                order.choice, ROLE, told, shape, deadline=deadline, check=check
            )
        except ModelFailure as failure:
            codes = tuple(dict.fromkeys(complaint.code for complaint in last))
            why = FellBack(failure.code, codes, order.choice.label, order.target.category)
            return _Made(None, failure.calls, why)
        scenario = assembled(answer.value, order.target, scenario_id, order.owner)
        return _Made(scenario, answer.calls)

    def _stored(
        self, order: _Order, made: _Made, correlation_id: str
    ) -> tuple[Scenario, Event | None]:
        event: Event | None = None
        refusal: InvalidRequest | Unavailable | None = None
        scenario = made.scenario
        with self._begin(order.owner) as tx:
            now_there = store.lock_context(tx, order.owner)
            if now_there is None:
                raise NotFound(NO_OWNER)
            record_calls(tx, order.owner, made.calls, self._ids)
            if not now_there.strip():
                refusal = InvalidRequest(_EMPTY)
            elif scenario is not None:
                store.add_personal(tx, scenario, order.inputs_sha256)
            else:
                scenario = store.fallback(tx, order.owner, order.target.category)
                refusal = Unavailable(_NOTHING_LEFT) if scenario is None else None
            if refusal is None and scenario is not None:
                store.serve(tx, order.owner, scenario.id, self._ids(), self._clock())
                event = self._told(tx, order.owner, scenario, correlation_id)
        if refusal is not None or scenario is None:  # raised here: the calls are on record
            raise refusal or Unavailable(_NOTHING_LEFT)
        return scenario, event

    def _told(
        self, tx: Transaction, owner: UUID, scenario: Scenario, correlation_id: str
    ) -> Event | None:
        if scenario.personalized:
            return None
        event = Event(
            id=self._ids(),
            type="scenario.fell_back",
            user_id=owner,
            subject_id=scenario.id,
            correlation_id=correlation_id,
        )
        outbox.put(tx, event)
        return event
