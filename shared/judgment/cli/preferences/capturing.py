"""`capture` and `capture-batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgment.cli.output import emit, say
from judgment.cli.preferences.inputs import items, read_text
from judgment.cli.preferences.opening import opened
from judgment.cli.preferences.progress import watched
from judgment.cli.preferences.statements import (
    Heard,
    correcting,
    holding,
    item_from,
    payload_from,
    seen_by,
)
from judgment.kit.clock import isoformat, utc_now
from judgment.kit.errors import InvalidRequest
from judgment.preferences.signals import captured_from, flags_of

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.cli.preferences.stores import Store, Taken
    from judgment.preferences.model import Signal

SECONDS = 10.0
"""How long a capture may try to reach another store."""
BATCH_SECONDS = 600.0
REFUSED = 1


def capture(**options: Any) -> int | None:
    """Keep one statement, and print its id and what it replaced; 1 where the store refuses it."""
    now = utc_now()
    signal = captured_from(payload_from(options), received_at=now)
    store = opened()
    if options["corrects"]:
        signal = correcting(signal, store.document(seen_by(signal)), now)
    before = holding(store.document(signal.platform), signal.key, now)
    taken = store.take([signal], SECONDS)
    replaced = None if before is None or before.sources[0] == signal.id else before
    emit(
        {
            "id": signal.id,
            "key": signal.key,
            "scope": signal.scope,
            "observed_at": isoformat(signal.observed_at),
            "flags": list(flags_of(signal, now)),
            "supersedes": signal.supersedes,
            "is_new": signal.id in taken.new,
            "state": "refused" if taken.refused else taken.state,
            "replaced": None
            if replaced is None or not _holds(store, taken, signal, now)
            else {"id": replaced.sources[0], "value": replaced.value, "scope": replaced.scope},
        }
    )
    return _told(taken)


def capture_batch(
    file: str, platform: str | None, agent: str | None, session: str | None
) -> int | None:
    """Keep many statements, all or none, and print their ids; 1 where the store refuses any."""
    now = utc_now()
    heard = Heard(platform, agent, session)
    signals: list[Signal] = []
    corrections: list[int] = []
    stated = list(items(read_text(file, "--file"), "--file"))
    for place, (where, item) in enumerate(watched(stated, "Checking")):
        try:
            signal, corrects = item_from(item, heard, place, now)
        except InvalidRequest as refused:
            raise InvalidRequest(f"{where}: {refused.message}. Nothing was kept.") from refused
        if corrects:
            corrections.append(place)
        signals.append(signal)
    store = opened()
    for place in corrections:
        document = store.document(seen_by(signals[place]))
        signals[place] = correcting(signals[place], document, now)
    taken = store.take(signals, BATCH_SECONDS)
    emit(
        {
            "captured": len(signals) - len(taken.refused),
            "new": len(taken.new),
            "state": taken.state,
            "refused": dict(taken.refused),
            "ids": [signal.id for signal in signals],
        }
    )
    return _told(taken)


def _holds(store: Store, taken: Taken, signal: Signal, now: datetime) -> bool:
    """Whether the new statement is what the documents say now; believed where they follow later."""
    if taken.state != "compiled":
        return True
    held = holding(store.document(signal.platform), signal.key, now)
    return held is not None and held.sources[0] == signal.id


def _told(taken: Taken) -> int | None:
    if taken.trouble:
        say(f"Waiting to be sent: {taken.trouble}")
    for name, reason in taken.refused.items():
        say(f"Error: {name} was refused: {reason}")
    return REFUSED if taken.refused else None
