"""The steps of consent: allow, deny, revoke, lift; how they are asked for, kept and read back.

What is asked for is refused unless it can be carried out as it is meant. What was kept is never
refused: an allow that cannot be read opens nothing, and anything else closes as much as it might
have meant. What a history comes to is in `grants`. Source: issue part 3 item 3; reference §2.7, 7.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from judgment.kit.clock import isoformat
from judgment.kit.errors import InvalidRequest
from judgment.preferences.keys import checked_glob
from judgment.preferences.times import read_moment

Effect = Literal["allow", "deny", "revoke", "lift"]
Purpose = Literal["read", "solve"]
EFFECTS: tuple[Effect, ...] = ("allow", "deny", "revoke", "lift")
LEVELS: dict[str, int] = {"read": 0, "solve": 1}
FIELDS = frozenset(("effect", "key_glob", "audience", "level", "expires"))
KEPT = frozenset(("id", "position", "recorded_at"))
EVERYBODY = "*"
SELF = "self"
AUDIENCE_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Event:
    """One step of the history. `position` counts from 1 once it is kept; `expires` is aware."""

    effect: Effect
    key_glob: str
    audience: str
    level: Purpose = "read"
    expires: datetime | None = None
    id: str = ""
    position: int = 0
    recorded_at: datetime | None = None


CLOSED = Event("revoke", EVERYBODY, EVERYBODY)
"""What an event of unknown effect counts as: everything closed to everybody."""


def checked_audience(text: object) -> str:
    """The name of an audience in NFC, case-exact: 1 to 100 printable characters.

    Raises InvalidRequest for anything else, and for a `*` within a longer name.
    """
    if not isinstance(text, str) or not text:
        raise InvalidRequest("An audience is a name, such as bob or user:<id>.")
    name = unicodedata.normalize("NFC", text)
    if len(name) > AUDIENCE_LIMIT:
        raise InvalidRequest(f"An audience has at most {AUDIENCE_LIMIT} characters.")
    if not name.isprintable() or name != name.strip():
        raise InvalidRequest("An audience holds no control characters and no blanks at its ends.")
    if EVERYBODY in name and name != EVERYBODY:
        raise InvalidRequest("An audience is one name; * alone means everybody.")
    return name


def event_from(payload: Mapping[str, Any], now: datetime) -> Event:
    """The event that an owner asks for, checked. `level` absent is `read`, `expires` null.

    Raises InvalidRequest, in plain words, for whatever could not be carried out as it is meant: an
    unknown effect, level or field, an expiry that is unreadable, past, or of a revoke or lift, an
    allow for everybody, and a grant to `self`.
    """
    if unknown := set(payload) - FIELDS:
        raise InvalidRequest(f"A grant has no field {min(map(repr, unknown)):.60}.")
    effect, level = payload.get("effect"), payload.get("level", "read")
    if effect not in EFFECTS:
        raise InvalidRequest(f"The effect is one of {', '.join(EFFECTS)}.")
    if not _is_level(level):
        raise InvalidRequest("The level is read or solve.")
    glob = _glob(payload.get("key_glob"))
    audience = checked_audience(payload.get("audience"))
    if audience == SELF:
        raise InvalidRequest("self is you and your own agents, who need no grant.")
    if effect == "allow" and audience == EVERYBODY:
        raise InvalidRequest("Name the audience: nothing can be opened to everybody.")
    expires = _expiry(effect, payload.get("expires"), now)
    return Event(effect, glob, audience, cast("Purpose", level), expires)


def _glob(text: object) -> str:
    if not isinstance(text, str):
        raise InvalidRequest("A key glob is a text such as dining.* or dining.cuisine.thai.")
    return checked_glob(text)


def _expiry(effect: Effect, text: object, now: datetime) -> datetime | None:
    if text is None:
        return None
    if effect in ("revoke", "lift"):
        raise InvalidRequest(f"A {effect} is final and has no expiry.")
    moment = _moment(text)
    if moment is None:
        raise InvalidRequest("The expiry is a time such as 2027-01-31T00:00:00Z.")
    if moment <= now:
        raise InvalidRequest("The expiry has passed already.")
    return moment


def stored(event: Event) -> dict[str, Any]:
    """An event as it is kept."""
    return {
        "id": event.id,
        "position": event.position,
        "recorded_at": isoformat(event.recorded_at) if event.recorded_at else None,
        "effect": event.effect,
        "key_glob": event.key_glob,
        "audience": event.audience,
        "level": event.level,
        "expires": isoformat(event.expires) if event.expires else None,
    }


def from_stored(kept: object) -> Event | None:
    """What a kept event counts as; None for an allow or lift in which anything is unreadable.

    Never raises. A deny or revoke that cannot be wholly read counts as the strongest that it might
    have been: of level read, without an end, for all keys or everybody where those are unreadable.
    Anything else closes everything.
    """
    if not isinstance(kept, Mapping):
        return CLOSED
    fields = cast("Mapping[str, Any]", kept)
    effect = fields.get("effect")
    if effect not in EFFECTS:
        return CLOSED
    glob = _readable(checked_glob, fields.get("key_glob"))
    audience = _readable(checked_audience, fields.get("audience"))
    level, expires = fields.get("level"), _moment(fields.get("expires"))
    whole = (
        FIELDS <= set(fields) <= FIELDS | KEPT
        and glob is not None
        and audience not in (None, SELF)
        and _is_level(level)
        and (expires is not None or fields["expires"] is None)
        and not (effect == "allow" and audience == EVERYBODY)
    )
    if not whole and effect in ("allow", "lift"):
        return None
    return Event(
        effect,
        glob or EVERYBODY,
        EVERYBODY if audience in (None, SELF) else audience,
        cast("Purpose", level) if whole else "read",
        expires if whole and effect in ("allow", "deny") else None,
        _name(fields.get("id")),
        fields["position"] if type(fields.get("position")) is int else 0,
        _moment(fields.get("recorded_at")),
    )


def _name(identity: object) -> str:
    if isinstance(identity, str) and len(identity) <= AUDIENCE_LIMIT and identity.isprintable():
        return identity
    return ""


def _is_level(level: object) -> bool:
    return isinstance(level, str) and level in LEVELS


def _readable(check: Callable[[object], str], text: object) -> str | None:
    try:
        return check(text)
    except InvalidRequest:
        return None


def _moment(text: object) -> datetime | None:
    try:
        return read_moment(text, "expires")[0]
    except InvalidRequest:
        return None
