"""Signals come in: appended to the owner's stream, all of a request or none, each of them once.

The owner's row of state is locked first, so that positions grow without a gap in the order of
commits, however many hands add at once. A signal is known again by its id: the client's, or the
name of the whole statement. What was sent is kept as a digest beside it, because the role of the
door cannot read signals; another statement under a known id is a conflict. The event that starts
the compiler is committed with the signals and sent after; what is not sent is swept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.contract.jobs import Event
from judgment.contract.preferences import Captured, CapturedSignal, CaptureRequest, NewSignal
from judgment.db.errors import ForeignKeyViolated
from judgment.kit.clock import Clock, utc_now
from judgment.kit.deadline import Deadline
from judgment.kit.errors import Conflict, InvalidRequest, NotFound
from judgment.kit.hashing import canonical_json, digest
from judgment.kit.ids import IdFactory, new_id
from judgment.kit.killpoints import reach
from judgment.preferences import store
from judgment.preferences.signals import captured_from, flags_of, order_key, payload_of, stored
from judgment.queue import outbox
from judgment.queue.bus import SENDING_SECONDS

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.preferences.asking import Asker
    from judgment.preferences.model import Signal
    from judgment.queue.bus import EventBus
    from judgment.queue.idempotency import OncePerKey

NO_OWNER = "There is no such owner."


@dataclass(frozen=True, slots=True)
class Statement:
    """What a client asks to keep: the signal with its id, and the digest of what was sent.

    `is_dated`: the client said when it was said.
    """

    signal: Signal
    corrects: bool
    is_dated: bool
    sent_sha256: str

    @property
    def id(self) -> UUID:
        """The client's id, or the name of the statement."""
        return UUID(self.signal.id)


class Capturing:
    """Adds to an owner's stream and deletes from it. `begin` opens transactions for sending."""

    def __init__(
        self,
        begin: Callable[..., AbstractContextManager[Transaction]],
        bus: EventBus,
        once: OncePerKey,
        clock: Clock = utc_now,
        ids: IdFactory = new_id,
    ):
        self._begin = begin
        self._bus = bus
        self._once = once
        self._clock = clock
        self._ids = ids

    def capture(
        self,
        asker: Asker,
        request: CaptureRequest,
        key: str | None,
        route: str,
        deadline: Deadline | None = None,
    ) -> Captured:
        """Keep the request's signals, once per `key` and once per id.

        Raises InvalidRequest for a signal that breaks the model, naming its place; Conflict for an
        id that stands for another statement; what the asker's transaction raises. Nothing of the
        request is kept then.
        """
        now = self._clock()
        wanted = _statements(request.signals, now)
        sent: list[Event] = []

        def effect(tx: Transaction) -> tuple[int, Any]:
            answer, event = self._kept(tx, asker, wanted, now)
            sent.extend([] if event is None else [event])
            return 201, answer.model_dump(mode="json")

        body = request.model_dump(mode="json")

        def work(tx: Transaction) -> Any:
            _, answer, _ = self._once(tx, asker.owner, key, route, body, lambda: effect(tx))
            reach("preferences.before_commit")
            return answer

        answer = self._done(asker, work, sent, deadline)
        return Captured.model_validate(answer)

    def forget(
        self, asker: Asker, signal_id: UUID | None, deadline: Deadline | None = None
    ) -> None:
        """Delete a signal for good; what rests on it is gone at the next read.

        Raises NotFound for none of the owner's.
        """
        sent: list[Event] = []

        def work(tx: Transaction) -> None:
            store.hold_state(tx, asker.owner)
            if signal_id is None or not store.delete_signal(tx, asker.owner, signal_id):
                raise NotFound("You have no signal with this id.")
            sent.append(self._told(tx, asker, signal_id))

        self._done(asker, work, sent, deadline)

    def _done(
        self,
        asker: Asker,
        work: Callable[[Transaction], Any],
        sent: Sequence[Event],
        deadline: Deadline | None,
    ) -> Any:
        try:
            answer = asker.within(work)
        except ForeignKeyViolated as error:
            raise NotFound(NO_OWNER) from error  # erased between the door and here
        reach("preferences.after_commit")
        if sent and (deadline or Deadline.after(60)).remaining() > SENDING_SECONDS:
            outbox.publish(self._begin, self._bus, sent)
        return answer

    def _kept(
        self, tx: Transaction, asker: Asker, wanted: Sequence[Statement], now: datetime
    ) -> tuple[Captured, Event | None]:
        state = store.hold_state(tx, asker.owner)
        known = store.known_signals(tx, asker.owner, {one.id for one in wanted})
        answers: list[CapturedSignal] = []
        rows: dict[UUID, store.NewRow] = {}
        for one in wanted:
            there = known.get(one.id) or rows.get(one.id)
            if there is None:
                signal = self._placed(tx, one, rows, state.appended + len(rows) + 1, now)
                rows[one.id] = _row(signal, one.sent_sha256, now)
                answers.append(_answer(signal, is_new=True))
            elif there.sent_sha256 != one.sent_sha256:
                raise Conflict(f"The id {one.id} stands for another statement.")
            else:
                answers.append(_repeated(one, there))
        if not rows:
            return Captured(signals=answers), None
        store.add_signals(tx, asker.owner, list(rows.values()))
        return Captured(signals=answers), self._told(tx, asker, next(reversed(rows)))

    def _placed(
        self,
        tx: Transaction,
        one: Statement,
        rows: dict[UUID, store.NewRow],
        position: int,
        now: datetime,
    ) -> Signal:
        """The signal at its position; one that corrects names what it takes back."""
        signal = replace(one.signal, recorded_at=now, position=position)
        if not one.corrects:
            return signal
        beside = [r for r in rows.values() if (r.key, r.scope) == (signal.key, signal.scope)]
        standing = beside[-1].id if beside else store.standing_signal(tx, signal.key, signal.scope)
        return replace(signal, supersedes=None if standing is None else str(standing))

    def _told(self, tx: Transaction, asker: Asker, signal_id: UUID) -> Event:
        event = Event(
            id=self._ids(),
            type="preference.captured",
            user_id=asker.owner,
            subject_id=signal_id,
            correlation_id=asker.correlation_id,
        )
        outbox.put(tx, event)
        return event


def _statements(signals: Sequence[NewSignal], now: datetime) -> list[Statement]:
    """Raises InvalidRequest that names the place of the first signal that breaks the model."""
    found: list[Statement] = []
    for place, new in enumerate(signals):
        try:
            found.append(_statement(new, now))
        except InvalidRequest as error:
            raise InvalidRequest(f"signals.{place}: {error.message}") from error
    return found


def _statement(new: NewSignal, now: datetime) -> Statement:
    if new.corrects and new.supersedes is not None:
        raise InvalidRequest("corrects finds what it supersedes; give one of the two")
    given = new.model_dump(exclude={"id", "corrects"})
    if "half_life_days" not in new.model_fields_set:
        del given["half_life_days"]  # absent is a default, null is for ever
    if new.observed_at is None:
        del given["observed_at"]
    signal = captured_from(given, received_at=now)
    sent = payload_of(signal)
    is_dated = "observed_at" in given
    if not is_dated:
        del sent["observed_at"]  # sent again later, it is the same statement
    if new.id is not None:
        signal = replace(signal, id=str(new.id), aliases=(signal.id,))
    return Statement(signal, new.corrects, is_dated, digest([sent, new.corrects]))


def _row(signal: Signal, sent_sha256: str, now: datetime) -> store.NewRow:
    return store.NewRow(
        id=UUID(signal.id),
        position=signal.position,
        key=signal.key,
        scope=signal.scope,
        instant=order_key(signal, now)[0],
        sequence=signal.source.sequence,
        supersedes=signal.supersedes,
        sent_sha256=sent_sha256,
        statement=canonical_json(stored(signal)),
        recorded_at=now,
    )


def _repeated(one: Statement, there: store.KnownSignal | store.NewRow) -> CapturedSignal:
    """The answer to a statement that is there already: as it was kept then."""
    kept = replace(
        one.signal,
        position=there.position,
        recorded_at=there.recorded_at,
        supersedes=there.supersedes,
    )
    if not one.is_dated:
        kept = replace(kept, observed_at=there.recorded_at)
    return _answer(kept, is_new=False)


def _answer(signal: Signal, *, is_new: bool) -> CapturedSignal:
    assert signal.recorded_at is not None  # both callers have put it there
    return CapturedSignal(
        id=signal.id,
        position=signal.position,
        key=signal.key,
        scope=signal.scope,
        observed_at=signal.observed_at,
        recorded_at=signal.recorded_at,
        supersedes=signal.supersedes,
        flags=list(flags_of(signal, signal.recorded_at)),
        is_new=is_new,
    )
