"""What a host's hooks say to us and hear from us, and the entries that make it run them.

Only the standard library: this is on the way of every session start. Shapes: reference
`fulcra-prefs.md` §5.1 and §5.2, checked against the real clients by `tests/e2e`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, cast

MATCHER = "startup|resume|clear|compact"
"""All the ways in which a session starts: after clearing and compaction it is needed the most."""

_START = ("SessionStart", 10)
_ENDS: dict[str, tuple[tuple[str, int], ...]] = {
    "claude-code": (("PreCompact", 10), ("SessionEnd", 10)),
    "codex": (("PreCompact", 10), ("SessionEnd", 3)),
}
"""Where a session's queue is drained, with seconds. Never at `Stop`, which comes with every turn.
Codex gives the end of a session no more than 3."""

HOOKED = tuple(_ENDS)

Event = Mapping[str, Any]


def injection(platform: str) -> tuple[str, ...]:
    """The arguments of the command that speaks at the start of a session."""
    return "inject", "--platform", platform, "--format", "hook"


def draining(platform: str) -> tuple[str, ...]:
    """The arguments of the command that takes in what a session has noticed."""
    return "drain", "--platform", platform, "--hook"


def entries(platform: str, program: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The hook group of each event for one of `HOOKED`; `program` is the command's beginning."""
    event, seconds = _START
    found: dict[str, dict[str, Any]] = {
        event: {"matcher": MATCHER, **_group([*program, *injection(platform)], seconds)}
    }
    for event, seconds in _ENDS[platform]:
        found[event] = _group([*program, *draining(platform)], seconds)
    return found


def is_ours(platform: str, hook: object) -> bool:
    """Whether a hook of a settings file is one that we put there for `platform`.

    It is known by how its command ends, so that another path to the program is still ours.
    """
    if not isinstance(hook, dict):
        return False
    command = cast(dict[str, object], hook).get("command")
    if not isinstance(command, str):
        return False
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        return False
    return any(
        len(words) > len(ending) and words[-len(ending) :] == ending
        for ending in (injection(platform), draining(platform))
    )


def heard(text: str) -> Event:
    """The event that a host wrote to the hook; an empty one where it is no JSON object."""
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], event) if isinstance(event, dict) else {}


def session_of(event: Event) -> str | None:
    """The session that the event names, or None."""
    session = event.get("session_id")
    return session if isinstance(session, str) and session else None


def spoken(platform: str, block: str, event: Event) -> str:
    """What the hook prints: the block in the host's own shape, or nothing.

    One line of ASCII JSON and a line feed, so that no locale can spoil it. Nothing is said for an
    empty block, nor to Hermes at any turn but a conversation's first: it asks before each one.
    """
    if not block:
        return ""
    if platform == "hermes":
        extra = event.get("extra")
        first = (
            cast(dict[str, Any], extra).get("is_first_turn") if isinstance(extra, dict) else None
        )
        return json.dumps({"context": block}) + "\n" if first is True else ""
    started = {"hookEventName": "SessionStart", "additionalContext": block}
    return json.dumps({"hookSpecificOutput": started}) + "\n"


def _group(command: Sequence[str], seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": shlex.join(command), "timeout": seconds}]}
