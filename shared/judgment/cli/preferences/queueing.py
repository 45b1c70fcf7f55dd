"""`notice` and `drain`: a session's statements, put aside without a network and kept later."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from judgment.cli.output import emit, say
from judgment.cli.preferences.opening import opened
from judgment.cli.preferences.statements import correcting, payload_from, seen_by
from judgment.cli.preferences.wiring import place
from judgment.kit.clock import isoformat, utc_now
from judgment.kit.errors import Refusal
from judgment.preferences.adapters.hooks import heard, session_of
from judgment.preferences.candidates import Candidates
from judgment.preferences.local.reading import read_document
from judgment.preferences.signals import captured_from, payload_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgment.cli.preferences.stores import Taken
    from judgment.preferences.candidates import Drained
    from judgment.preferences.model import Signal

SECONDS = 10.0
HOOK_SECONDS = 1.5
"""A host gives the end of a session few seconds; what is not sent by then waits in the outbox."""
REFUSED = 1


def notice(**options: Any) -> None:
    """Put one statement aside and print what it will become. No network is waited for."""
    now = utc_now()
    signal = captured_from(payload_from(options), received_at=now)
    root = place().root
    if options["corrects"]:
        signal = correcting(signal, read_document(root, seen_by(signal)), now)
    noticed = Candidates(root, options["platform"]).notice(payload_of(signal), now)
    emit(
        {
            "id": noticed.id,
            "key": noticed.key,
            "sequence": noticed.source.sequence,
            "observed_at": isoformat(noticed.observed_at),
            "supersedes": noticed.supersedes,
            "state": "noticed",
        }
    )


def drain(platform: str, session: str | None, agent: str | None, hook: bool) -> int | None:
    """Keep what was noticed and print what that was; 1 where the store refuses any of it.

    For a hook nothing is printed and the status is 0: it must hold up no session.
    """
    if not hook:
        return _drained(platform, session, agent, SECONDS)
    try:
        named = session or session_of(heard(sys.stdin.read()))
        _drain(platform, named, agent, HOOK_SECONDS)
    except (Refusal, OSError, ValueError) as refusal:
        say(f"Nothing was drained: {refusal}")
    return None


def _drained(platform: str, session: str | None, agent: str | None, seconds: float) -> int | None:
    drained, taken = _drain(platform, session, agent, seconds)
    refused = {name: why for one in taken for name, why in one.refused.items()}
    emit(
        {
            "captured": [
                {"id": signal.id, "key": signal.key, "session": signal.source.session}
                for signal in drained.signals
            ],
            "new": sum(len(one.new) for one in taken),
            "state": _state(taken),
            "refused": refused,
            "set_aside": [
                {"queue": one.session_file, "line": one.line, "reason": one.reason}
                for one in drained.set_aside
            ],
        }
    )
    for trouble in {one.trouble for one in taken if one.trouble}:
        say(f"Waiting to be sent: {trouble}")
    return REFUSED if refused else None


def _drain(
    platform: str, session: str | None, agent: str | None, seconds: float
) -> tuple[Drained, list[Taken]]:
    store = opened()
    taken: list[Taken] = []

    def keep(signals: Sequence[Signal]) -> None:
        taken.append(store.take(signals, seconds))

    queue = Candidates(place().root, platform)
    return queue.drain(keep, utc_now(), session, agent), taken


def _state(taken: Sequence[Taken]) -> str:
    """The least that holds for all of it."""
    states = {one.state for one in taken}
    return next((s for s in ("queued", "sent", "compiled") if s in states), "nothing to do")
