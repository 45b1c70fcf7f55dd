"""Rounds: which one comes next, and the transaction that records a decision.

Recording is the one place where an owner's judgment changes, so all of it is one transaction
(ruling 39). Under the owner's lock, and only there, these happen together or not at all: the
`Idempotency-Key` is claimed, the profile as it was is frozen (seed 000 §9.1), the decision is
stored, the round is closed, the profile is carried forward, a summary is asked for where it moved
far enough, and the events that tell of it are put into the outbox. What follows the commit, sending
the events and waking the summary's writer, may be lost: both are swept. The kill points `rounds.*`
let a test die between any two of these steps.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.contract.jobs import Event, EventType
from judgment.contract.rounds import DecisionRequest, RecordedDecision
from judgment.contract.rounds import Scenario as WireScenario
from judgment.db.errors import CheckViolated, ForeignKeyViolated
from judgment.kit.clock import Clock, utc_now
from judgment.kit.deadline import Deadline
from judgment.kit.errors import Conflict, NotFound
from judgment.kit.ids import IdFactory, new_id
from judgment.kit.killpoints import reach
from judgment.profile.service import OURS
from judgment.queue import outbox
from judgment.queue.bus import SENDING_SECONDS
from judgment.scenarios import store
from judgment.scenarios.model import to_wire
from judgment.scenarios.offering import Offering
from judgment.scenarios.recording import (
    NewDecision,
    checked_rationale,
    refuse_what_was_not_offered,
)
from judgment.scenarios.refusals import NO_OWNER, SYNCS_OWN
from judgment.scenarios.serving import shown_outcome

if TYPE_CHECKING:
    from judgment.contract.rounds import CanonicalTheme
    from judgment.db.connection import Transaction
    from judgment.profile.decision import Decision
    from judgment.queue.bus import EventBus
    from judgment.queue.idempotency import OncePerKey
    from judgment.scenarios.choosing import Settings
    from judgment.scenarios.model import Scenario
    from judgment.scenarios.ports import Moved, Profiles, Progressed, Summaries
    from judgment.scenarios.serving import Serving

DECIDE_ROUTE = "POST /api/v1/decisions"

_NO_SCENARIO = "There is no such scenario."
_ANSWERED = "You have decided on this scenario already; it was recorded then."


@dataclass(frozen=True)
class _Recorded:
    """What the commit has made true, and who is to be told."""

    events: tuple[Event, ...]
    moved: Moved
    now: datetime


class Rounds:
    """The use cases of playing. `begin` opens transactions as `judgment_owner`."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        bus: EventBus,
        profiles: Profiles,
        summaries: Summaries,
        once: OncePerKey,
        settings: Settings,
        clock: Clock = utc_now,
        ids: IdFactory = new_id,
    ):
        self._begin = begin
        self._bus = bus
        self._profiles = profiles
        self._summaries = summaries
        self._once = once
        self._clock = clock
        self._ids = ids
        self._offering = Offering(settings, ids)

    def next(self, owner: UUID, theme: CanonicalTheme | None) -> WireScenario:
        """The owner's next round, of that theme or of any canonical one; asked twice, the same.

        Raises NotFound when nothing is left to play now, Conflict where a Sync app keeps the
        profile.
        """
        with self._begin(owner) as tx:
            _lock(tx, owner)
            serving, scenario = self._offering.next(tx, owner, theme, self._clock())
            return _shown(tx, owner, scenario, serving)

    def scenario(self, owner: UUID, scenario_id: UUID | None) -> WireScenario:
        """A round that the owner may play, as they were last shown it.

        Raises NotFound alike for no id, an unknown, an archived and another owner's scenario.
        """
        if scenario_id is None:
            raise NotFound
        with self._begin(owner) as tx:
            scenario = store.playable(tx, owner, scenario_id)
            if scenario is None:
                raise NotFound
            return _shown(tx, owner, scenario, store.open_serving(tx, owner, scenario_id))

    def record(
        self,
        owner: UUID,
        request: DecisionRequest,
        key: str | None,
        correlation_id: str,
        deadline: Deadline | None = None,
    ) -> RecordedDecision:
        """Store a decision and all that follows from it, once per `key`.

        Raises NotFound for a scenario that the owner may not play; Conflict for one decided before
        and not served as a retest, for a key used with another request, and where a Sync app keeps
        the profile; InvalidRequest and TooLarge for answers the round did not ask for or cannot
        hold. After any of these, and after Unavailable where the commit did not come to be,
        nothing is stored.
        """
        rationale = checked_rationale(request.rationale)
        done: list[_Recorded] = []

        def effect(tx: Transaction) -> tuple[int, Any]:
            answer, recorded = self._decided(tx, owner, request, rationale, correlation_id)
            done.append(recorded)
            return 201, answer.model_dump(mode="json")

        body = request.model_dump(mode="json")
        try:
            with self._begin(owner) as tx:
                _, answer, _ = self._once(tx, owner, key, DECIDE_ROUTE, body, lambda: effect(tx))
                reach("rounds.before_commit")
        except ForeignKeyViolated as error:
            raise NotFound(NO_OWNER) from error  # erased between the door and here
        reach("rounds.after_commit")
        for recorded in done:
            self._tell(owner, recorded, correlation_id, deadline or Deadline.after(60))
        return RecordedDecision.model_validate(answer)

    def _decided(
        self,
        tx: Transaction,
        owner: UUID,
        request: DecisionRequest,
        rationale: str | None,
        correlation_id: str,
    ) -> tuple[RecordedDecision, _Recorded]:
        _lock(tx, owner)
        reach("rounds.claimed")
        now = self._clock()
        new = self._checked(tx, owner, request, rationale, now)
        try:
            store.add_choice(tx, owner, new.id)
        except CheckViolated as error:
            raise Conflict(SYNCS_OWN) from error  # its choices have columns we know nothing of
        store.add_snapshot(tx, owner, new.id, self._ids())
        decision = store.add_decision(tx, new)
        reach("rounds.decided")
        progressed = self._profiles.record(tx, owner, decision)
        moved = self._summaries.request_if_moved(tx, owner, progressed.profile, correlation_id, now)
        events = (
            self._event("decision.recorded", owner, decision.id, correlation_id),
            self._event("profile.changed", owner, owner, correlation_id),
        )
        for event in events:
            outbox.put(tx, event)
        return _answer(decision, progressed, moved), _Recorded(events, moved, now)

    def _checked(
        self,
        tx: Transaction,
        owner: UUID,
        request: DecisionRequest,
        rationale: str | None,
        now: datetime,
    ) -> NewDecision:
        scenario = store.playable(tx, owner, request.scenario_id)
        if scenario is None:
            raise NotFound(_NO_SCENARIO)
        serving = store.open_serving(tx, owner, scenario.id)
        is_retest = serving is not None and serving.retest_of is not None
        if not is_retest and store.is_answered(tx, owner, scenario.id):
            raise Conflict(_ANSWERED)
        refuse_what_was_not_offered(scenario, request)
        return NewDecision(self._ids(), owner, scenario, request, rationale, serving, now)

    def _event(self, kind: EventType, owner: UUID, subject: UUID, correlation_id: str) -> Event:
        return Event(
            id=self._ids(),
            type=kind,
            user_id=owner,
            subject_id=subject,
            correlation_id=correlation_id,
        )

    def _tell(
        self, owner: UUID, recorded: _Recorded, correlation_id: str, deadline: Deadline
    ) -> None:
        """Send what the sweep would send later. Nothing here is owed to the caller."""
        if deadline.remaining() > SENDING_SECONDS:
            outbox.publish(self._begin, self._bus, recorded.events)
        reach("rounds.before_wake")
        due_at = recorded.moved.due_at
        if not recorded.moved.became_pending or due_at is None:
            return
        if deadline.remaining() > SENDING_SECONDS:
            self._summaries.wake(owner, due_at, correlation_id, recorded.now)
        reach("rounds.after_wake")


def _lock(tx: Transaction, owner: UUID) -> None:
    """Raises Conflict where a Sync app keeps the profile, NotFound for nobody."""
    keeper = store.lock_owner(tx, owner)
    if keeper == OURS:
        return
    if keeper is None and not store.owner_is_known(tx, owner):
        raise NotFound(NO_OWNER)
    raise Conflict(SYNCS_OWN)


def _shown(
    tx: Transaction, owner: UUID, scenario: Scenario, serving: Serving | None
) -> WireScenario:
    if serving is None:
        return to_wire(scenario, retest=False, outcome=None)
    earlier = None
    if serving.outcome_of is not None:
        earlier = store.decision(tx, owner, serving.outcome_of)
    return to_wire(scenario, retest=serving.retest_of is not None, outcome=shown_outcome(earlier))


def _answer(decision: Decision, progressed: Progressed, moved: Moved) -> RecordedDecision:
    return RecordedDecision(
        decision_id=decision.id,
        scenario_id=decision.scenario_id,
        recorded_at=decision.recorded_at.astimezone(UTC),
        retest=decision.retest_of is not None,
        games_played=progressed.profile.games_analyzed,
        sync_score=progressed.sync_score,
        moved=moved.moved,
        summary_due_at=None if moved.due_at is None else moved.due_at.astimezone(UTC),
    )
