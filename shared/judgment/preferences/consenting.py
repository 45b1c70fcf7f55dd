"""Consent given and taken back by the owner, and the ledger of what came of it.

Steps are added and never changed; what they come to is asked of the database at each disclosure, so
a step holds from the next read on. What holds is worked out here by `grants` only to say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from judgment.contract.jobs import Event
from judgment.contract.preferences import (
    Consent,
    ConsentEvent,
    GrantRequest,
    LedgerEntry,
    LedgerPage,
    LedgerQuery,
    LedgerVerification,
    RevokeRequest,
)
from judgment.db.errors import ForeignKeyViolated
from judgment.kit.clock import Clock, isoformat, utc_now
from judgment.kit.deadline import Deadline
from judgment.kit.errors import Conflict, NotFound
from judgment.kit.ids import IdFactory, new_id
from judgment.kit.killpoints import reach
from judgment.preferences import store
from judgment.preferences.asking import named_audience
from judgment.preferences.capturing import NO_OWNER
from judgment.preferences.consent import event_from
from judgment.preferences.grants import fold
from judgment.preferences.ledger import verify
from judgment.preferences.shapes import cursor, cursor_position
from judgment.queue import outbox
from judgment.queue.bus import SENDING_SECONDS

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.preferences.asking import Asker
    from judgment.preferences.ledger import Link
    from judgment.queue.bus import EventBus
    from judgment.queue.idempotency import OncePerKey

HISTORY_LIMIT = 5_000
"""Steps after which nothing more can be opened; closing is never refused."""

PAGE_BYTES = 2_000_000
"""A group decision may name hundreds of kilobytes of keys, and an answer of Lambda holds 6 MB."""


class Consenting:
    """An owner's consent and ledger. `begin` opens transactions for sending."""

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

    def change(
        self,
        asker: Asker,
        request: GrantRequest | RevokeRequest,
        key: str | None,
        route: str,
        deadline: Deadline | None = None,
    ) -> ConsentEvent:
        """Add a step to the history, once per `key`.

        Raises InvalidRequest for a step that could not be carried out as it is meant, Conflict
        when the history is too long for another allow, NotFound for nobody.
        """
        sent: list[Event] = []
        body = request.model_dump(mode="json")

        def effect(tx: Transaction) -> tuple[int, Any]:
            answer, event = self._made(tx, asker, request)
            sent.append(event)
            return 201, answer.model_dump(mode="json")

        def work(tx: Transaction) -> Any:
            _, answer, _ = self._once(tx, asker.owner, key, route, body, lambda: effect(tx))
            reach("consent.before_commit")
            return answer

        try:
            answer = asker.within(work)
        except ForeignKeyViolated as error:
            raise NotFound(NO_OWNER) from error
        reach("consent.after_commit")
        if sent and (deadline or Deadline.after(60)).remaining() > SENDING_SECONDS:
            outbox.publish(self._begin, self._bus, sent)
        return ConsentEvent.model_validate_json(json.dumps(answer))

    def history(self, asker: Asker) -> Consent:
        """Every step, oldest first, and which of them have an effect now."""
        rows = asker.within(lambda tx: store.consent_events(tx, asker.owner))
        return Consent(events=self._shapes(rows))

    def ledger(self, asker: Asker, query: LedgerQuery) -> LedgerPage:
        """A page of the ledger, newest first.

        Raises InvalidRequest for a cursor that is none, Conflict for an entry that somebody
        altered past reading.
        """
        before = None if query.cursor is None else cursor_position(query.cursor)
        found = asker.within(lambda tx: store.ledger_before(tx, asker.owner, before, query.limit))
        links = _fitting(found)
        is_full = len(links) == query.limit or len(links) < len(found)
        following = cursor(str(links[-1].position)) if is_full else None
        return LedgerPage(entries=[_entry(link) for link in links], next_cursor=following)

    def verification(self, asker: Asker) -> LedgerVerification:
        """Whether the ledger is whole, up to the end that is kept beside it."""

        def use(tx: Transaction) -> LedgerVerification:
            head = store.hold_state(tx, asker.owner).head  # nothing is added meanwhile
            found = verify(store.whole_ledger(tx, asker.owner), head)
            return LedgerVerification(
                intact=found.intact,
                length=found.length,
                head=found.head.hash,
                problems=list(found.problems),
            )

        try:
            return asker.within(use)
        except ForeignKeyViolated as error:
            raise NotFound(NO_OWNER) from error

    def _made(
        self, tx: Transaction, asker: Asker, request: GrantRequest | RevokeRequest
    ) -> tuple[ConsentEvent, Event]:
        now = self._clock()
        payload = {"effect": "revoke", **request.model_dump()}
        payload["audience"] = named_audience(request.audience)
        if isinstance(request, GrantRequest) and request.expires is not None:
            payload["expires"] = request.expires.isoformat()
        step = event_from(payload, now)
        state = store.hold_state(tx, asker.owner)
        if step.effect == "allow" and state.consented >= HISTORY_LIMIT:
            raise Conflict(f"The history has {HISTORY_LIMIT} steps; nothing more can be opened.")
        identity = self._ids()
        row = {
            "position": state.consented + 1,
            "id": identity,
            "effect": step.effect,
            "key_glob": step.key_glob,
            "audience": step.audience,
            "level": step.level,
            "expires": step.expires,
            "made_at": now,
        }
        store.add_consent_event(tx, asker.owner, row)
        event = Event(
            id=self._ids(),
            type="consent.changed",
            user_id=asker.owner,
            subject_id=identity,
            correlation_id=asker.correlation_id,
        )
        outbox.put(tx, event)
        made = self._shapes(store.consent_events(tx, asker.owner))[-1]
        return made, event

    def _shapes(self, rows: Sequence[Mapping[str, Any]]) -> list[ConsentEvent]:
        live = fold(map(_kept, rows)).live(self._clock())
        return [
            ConsentEvent(
                id=row["id"],
                effect=row["effect"],
                key_glob=row["key_glob"],
                audience=row["audience"],
                level=row["level"],
                expires=row["expires"],
                made_at=row["made_at"],
                live=row["position"] in live,
            )
            for row in rows
        ]


def _kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """A stored step in the form that `grants` folds."""
    expires: Any = row["expires"]
    return {
        "id": str(row["id"]),
        "position": row["position"],
        "recorded_at": isoformat(row["made_at"]),
        "effect": row["effect"],
        "key_glob": row["key_glob"],
        "audience": row["audience"],
        "level": row["level"],
        "expires": None if expires is None else isoformat(expires),
    }


def _fitting(links: Sequence[Link]) -> Sequence[Link]:
    """The first of them, as many as an answer has room for; always one, if there is any."""
    size = 0
    for place, link in enumerate(links):
        size += len(link.entry.encode())
        if place and size > PAGE_BYTES:
            return links[:place]
    return links


def _entry(link: Link) -> LedgerEntry:
    try:
        entry = json.loads(link.entry)
        return LedgerEntry.model_validate_json(
            json.dumps(
                {
                    "position": link.position,
                    "at": entry["at"],
                    "kind": entry["kind"],
                    "audience": entry["audience"],
                    "purpose": entry["purpose"],
                    "platform": entry["platform"],
                    "keys": entry["keys"],
                    "by": entry["by"],
                    "correlation_id": entry["correlation"],
                    "hash": link.hash,
                }
            )
        )
    except (ValueError, KeyError, TypeError) as error:
        raise Conflict(
            f"Entry {link.position} was altered; the verification of the ledger says more."
        ) from error
