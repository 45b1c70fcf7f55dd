"""Statements for tests of the core: few words, every field within reach, and random lives."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from judgment.preferences.signals import from_stored, payload_of, signal_from, signal_id

if TYPE_CHECKING:
    from judgment.preferences.model import Signal

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
KEYS = ("dining.cuisine.thai", "editor.indent", "caf\u00e9.oat")
SCOPES = ("global", "platform:codex", "platform:hermes")


def days_ago(days: float) -> str:
    """A moment before `NOW`, as it is written."""
    return (NOW - timedelta(days=days)).isoformat()


def said(key: str = KEYS[0], value: Any = True, strength: float = 0.8, **more: Any) -> Signal:
    """A statement heard on the command line at the moment it was made."""
    source = {"platform": "claude-code", "session": "s", **more.pop("source", {})}
    payload = {"key": key, "value": value, "strength": strength, "source": source, **more}
    return signal_from(payload, received_at=NOW)


def kept(signals: list[Signal]) -> list[Signal]:
    """The same as a store has them: taken in this order, when they were said or at `NOW`."""
    return [
        replace(signal, position=place, recorded_at=NOW) for place, signal in enumerate(signals, 1)
    ]


@st.composite
def statements(draw: st.DrawFn) -> Signal:
    """Any preference or fact about few keys, often at the same moment."""
    kind = draw(st.sampled_from(("preference", "fact")))
    return said(
        draw(st.sampled_from(KEYS)),
        draw(st.sampled_from((True, 1, 1.0, "tabs", None, {"b": [1e-9]}))),
        draw(st.floats(-1, 1)),
        kind=kind,
        scope=draw(st.sampled_from(SCOPES)),
        confidence=draw(st.floats(0, 1)),
        half_life_days=draw(st.one_of(st.none(), st.floats(1e-9, 1e9))),
        observed_at=days_ago(draw(st.sampled_from((-400, -1, 0, 0, 1, 90, 200)))),
        source={"sequence": draw(st.integers(0, 3))},
    )


@st.composite
def lives(draw: st.DrawFn, most: int = 14) -> list[Signal]:
    """Statements of which some supersede others, themselves, each other, or nothing there is."""
    found = draw(st.lists(statements(), max_size=most, unique_by=lambda one: one.id))
    names = [signal.id for signal in found]
    named = [draw(st.one_of(st.none(), st.sampled_from([*names, "nobody"]))) for _ in found]
    return kept([replace(s, supersedes=n) for s, n in zip(found, named, strict=True)])


def read_again(signal: Signal) -> Signal:
    """The signal that its own payload states."""
    payload = payload_of(signal)
    return from_stored({**payload, "id": signal_id(payload)})
