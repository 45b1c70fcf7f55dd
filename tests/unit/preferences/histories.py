"""Histories of consent for properties: small names so that rules meet, and everything malformed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
SEGMENTS = ("dining", "thai", "Dining", "diningsecret", "caf\u00e9", "x")
AUDIENCES = ("bob", "Bob", "user:1", "eve")
PURPOSES = ("read", "solve")

keys = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4).map(".".join)
globs = st.lists(st.sampled_from((*SEGMENTS, "*")), min_size=1, max_size=4).map(".".join)
moments = st.sampled_from([NOW + timedelta(days=days) for days in (-2, -1, 0, 1, 2)])
expiries = st.one_of(st.none(), moments.map(lambda moment: moment.isoformat()))
EFFECTS = ("allow", "deny", "revoke", "lift")


@st.composite
def steps(draw: st.DrawFn, effects: tuple[str, ...] = EFFECTS) -> dict[str, Any]:
    """A step as it is kept, such as `event_from` would let through (but for an expiry passed)."""
    effect = draw(st.sampled_from(effects))
    audiences = AUDIENCES if effect == "allow" else (*AUDIENCES, "*")
    return {
        "effect": effect,
        "key_glob": draw(globs),
        "audience": draw(st.sampled_from(audiences)),
        "level": draw(st.sampled_from(PURPOSES)),
        "expires": draw(expiries) if effect in ("allow", "deny") else None,
    }


garbage = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from(("admin", "din*", "**", "a..b", "", "tomorrow", "2026-13-01T00:00:00Z", "*.")),
)


@st.composite
def broken_steps(draw: st.DrawFn) -> object:
    """A step in which something is missing, unknown or garbage; or no step at all."""
    if draw(st.integers(0, 4)) == 0:
        return draw(garbage)
    step = draw(steps())
    how = draw(st.sampled_from(("garbage", "missing", "unknown")))
    if how == "unknown":
        return {**step, draw(st.text(min_size=1, max_size=5)) + "!": draw(garbage)}
    name = draw(st.sampled_from(sorted(step)))
    if how == "missing":
        return {field: value for field, value in step.items() if field != name}
    return {**step, name: draw(garbage)}


histories = st.lists(st.one_of(steps(), steps(), broken_steps()), max_size=12)
