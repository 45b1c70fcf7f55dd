"""What is shown of an owner's preferences: pages of the document, the block, the stream, and why.

Everything comes out of the database's two functions, which ask consent and write the ledger first
(`store`); nothing here can read a document in any other way. A refusal is raised after the
transaction has committed, so that the denial stays in the ledger. Weights are those of the moment
that the database names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgment.contract.preferences import (
    PAGE_LIMIT,
    BlockQuery,
    Candidate,
    PreferenceBlock,
    Preferences,
    PreferencesQuery,
    SignalPage,
    SignalsQuery,
    Why,
    WhyQuery,
)
from judgment.kit.errors import Forbidden, InvalidRequest, NotFound
from judgment.preferences import store
from judgment.preferences.asking import audience_of, named_audience
from judgment.preferences.block import block
from judgment.preferences.capturing import NO_OWNER
from judgment.preferences.consent import EVERYBODY, SELF
from judgment.preferences.documents import DOCUMENT_VERSION, Entry, view
from judgment.preferences.explaining import why
from judgment.preferences.keys import checked_key
from judgment.preferences.model import InvalidSignal
from judgment.preferences.shapes import (
    cursor,
    cursor_position,
    cursor_text,
    entry_shape,
    moment,
    signal_shape,
)
from judgment.preferences.signals import from_stored

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.db.connection import Transaction
    from judgment.preferences.asking import Asker
    from judgment.preferences.model import Signal

NOT_OPEN = "Nothing of this is open to you."
BLOCK_ENTRIES = 400
"""More than any block has room for: a line of one takes more than 23 of 9,000 bytes."""
WHY_SIGNALS = 1_000
"""Of one key, the newest; a key with more is not explained to its last statement."""


class Reading:
    """The reads of an owner's preferences, for the owner, their agents and whom they allow."""

    def preferences(self, asker: Asker, query: PreferencesQuery) -> Preferences:
        """A page of the document, as the audience may see it.

        Raises Forbidden alike for an owner who has opened nothing of it to the asker and for
        nobody; InvalidRequest for an audience, key or cursor that is none.
        """
        question = _question(asker, query)
        found = asker.within(lambda tx: store.disclose_preferences(tx, question))
        if not found["allowed"]:
            raise Forbidden(NOT_OPEN)
        now = moment(found["at"])
        is_self = question.audience == SELF
        entries = [entry_shape(entry, is_self) for entry in _entries(found, now)]
        following = cursor(entries[-1].key) if found["ahead"] and entries else None
        return Preferences(
            platform=query.platform,
            audience=question.audience,
            as_of=now,
            compiled_at=None if found["compiled_at"] is None else moment(found["compiled_at"]),
            total=found["total"],
            pending=found["pending"],
            quarantined=found["quarantined"] or 0,
            entries=entries,
            next_cursor=following,
        )

    def block(self, asker: Asker, query: BlockQuery) -> PreferenceBlock:
        """What a session of that platform starts with. Raises NotFound for nobody."""
        question = store.Question(
            asker.owner,
            SELF,
            "read",
            asker.hand,
            asker.correlation_id,
            platform=query.platform,
            most=BLOCK_ENTRIES,
            heaviest=True,
        )
        found = asker.within(lambda tx: store.disclose_preferences(tx, question))
        if not found["allowed"]:
            raise NotFound(NO_OWNER)
        if found["compiled_at"] is None:
            return PreferenceBlock(
                platform=query.platform, text="", characters=0, shown=0, omitted=0, compiled_at=None
            )
        made = block(_document(found), moment(found["at"]), query.platform)
        return PreferenceBlock(
            platform=query.platform,
            text=made.text,
            characters=made.characters,
            shown=made.shown,
            omitted=found["total"] - made.shown,
            compiled_at=moment(found["compiled_at"]),
        )

    def why(self, asker: Asker, query: WhyQuery) -> Why:
        """Every candidate for a key and why it holds or not, the winner first.

        Raises InvalidRequest for a key that is none, NotFound for nobody.
        """
        key, _ = checked_key(query.key)

        def use(tx: Transaction) -> dict[str, Any]:
            return store.disclose_signals(
                tx,
                key=key,
                after=0,
                most=WHY_SIGNALS,
                newest=True,
                hand=asker.hand,
                correlation_id=asker.correlation_id,
            )

        found = _known(asker.within(use))
        now = moment(found["at"])
        reasons = why(list(_readable(found)), key, now, query.platform)
        shown = reasons.candidates[:PAGE_LIMIT]
        return Why(
            key=key,
            platform=query.platform,
            as_of=now,
            winner=reasons.winner,
            candidates=[
                Candidate(
                    signal=signal_shape(one.signal),
                    weight=one.weight,
                    stale=one.stale,
                    verdict=one.verdict,
                    by=one.by,
                )
                for one in shown
            ],
            omitted=found["total"] - len(shown),
        )

    def signals(self, asker: Asker, query: SignalsQuery) -> SignalPage:
        """A page of the stream, oldest first. Raises InvalidRequest, and NotFound for nobody."""
        key = None if query.key is None else checked_key(query.key)[0]
        after = 0 if query.cursor is None else cursor_position(query.cursor)

        def use(tx: Transaction) -> dict[str, Any]:
            return store.disclose_signals(
                tx,
                key=key,
                after=after,
                most=query.limit,
                newest=False,
                hand=asker.hand,
                correlation_id=asker.correlation_id,
            )

        found = _known(asker.within(use))
        rows = found["signals"]
        following = cursor(str(rows[-1]["position"])) if len(rows) == query.limit else None
        page = [signal_shape(signal) for signal in _readable(found)]
        return SignalPage(signals=page, next_cursor=following)


def _question(asker: Asker, query: PreferencesQuery) -> store.Question:
    whose = query.owner or asker.owner
    audience = SELF if query.audience is None else named_audience(query.audience)
    if audience == EVERYBODY:
        raise InvalidRequest("audience: name one; nothing is shown to everybody.")
    if whose != asker.owner:
        if query.audience is not None and audience != audience_of(asker.owner):
            raise InvalidRequest("audience: another owner's are shown to you and to nobody else.")
        audience = audience_of(asker.owner)
    return store.Question(
        whose,
        audience,
        query.purpose,
        asker.hand,
        asker.correlation_id,
        platform=query.platform,
        below=None if query.below is None else checked_key(query.below)[0],
        after=None if query.cursor is None else cursor_text(query.cursor),
        most=query.limit,
    )


def _known(found: dict[str, Any]) -> dict[str, Any]:
    if not found["allowed"]:
        raise NotFound(NO_OWNER)
    return found


def _readable(found: Mapping[str, Any]) -> Iterator[Signal]:
    """The signals that this version can read; the others are counted when they are compiled."""
    for one in found["signals"]:
        try:
            yield from_stored(one["statement"])
        except InvalidSignal:
            continue


def _document(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "v": DOCUMENT_VERSION,
        "compiled_at": found["compiled_at"],
        "keys": found["keys"],
    }


def _entries(found: Mapping[str, Any], now: datetime) -> tuple[Entry, ...]:
    return view(_document(found), now)


def opinions_of(found: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of what was disclosed, weighed at the moment that the database named."""
    return _entries(found, moment(found["at"]))
