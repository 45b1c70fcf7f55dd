"""What may be seen by whom, folded from a history of allow, deny, revoke and lift.

A key is open to an audience for a purpose while there is an unexpired allow of that audience that
covers it, no later revoke that does, and no deny. Purposes are levels: an allow of `solve` covers
`read`, and a revoke or deny of `read` covers `solve`. A lift ends the denies of exactly its glob
and audience that were made before it. So only an allow, a lift or time opens anything.
Source: issue part 3 item 3; rulings 15 and 16; reference §2.7, 8 and 19.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from judgment.preferences.consent import EVERYBODY, LEVELS, SELF, Event, from_stored, stored


@dataclass(frozen=True, slots=True)
class _Rule:
    """An event made ready for asking: `fixed` segments (None: any one), and whether more follow."""

    place: int
    event: Event
    closes: bool
    level: int
    expires: datetime | None
    fixed: tuple[str | None, ...]
    beneath: bool

    def covers(self, segments: Sequence[str]) -> bool:
        """Whether this rule's glob matches the key of these segments."""
        more = len(segments) - len(self.fixed)
        if more < 1 if self.beneath else more:
            return False
        for mine, other in zip(self.fixed, segments, strict=False):
            if mine is not None and mine != other:
                return False
        return True

    def includes(self, other: _Rule) -> bool:
        """Whether every key of the other's glob is one of this one's."""
        more = len(other.fixed) - len(self.fixed)
        if self.beneath:
            long_enough = more >= (0 if other.beneath else 1)
        else:
            long_enough = more == 0 and not other.beneath
        pairs = zip(self.fixed, other.fixed, strict=False)
        return long_enough and all(mine in (None, theirs) for mine, theirs in pairs)

    def meets(self, other: _Rule) -> bool:
        """Whether some key is of both globs."""
        more = len(other.fixed) - len(self.fixed)
        if self.beneath:
            possible = other.beneath or more >= 1
        else:
            possible = more <= -1 if other.beneath else more == 0
        pairs = zip(self.fixed, other.fixed, strict=False)
        return possible and all(None in pair or pair[0] == pair[1] for pair in pairs)

    def holds(self, now: datetime) -> bool:
        """Whether it has not expired; at the moment of its expiry it has."""
        return self.expires is None or now < self.expires


def _rule(place: int, event: Event) -> _Rule:
    segments = event.key_glob.split(".")
    beneath = segments[-1] == EVERYBODY
    fixed = tuple(None if s == EVERYBODY else s for s in segments[: -1 if beneath else None])
    closes = event.effect != "allow"
    return _Rule(place, event, closes, LEVELS[event.level], event.expires, fixed, beneath)


class Grants:
    """What a history of consent comes to. Ask it; it never changes."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = tuple(events)
        rules = [_rule(place, event) for place, event in enumerate(self.events)]
        lifted = _lifted(self.events)
        self._denies = [r for r in rules if r.event.effect == "deny" and r.place not in lifted]
        self._steps = [r for r in reversed(rules) if r.event.effect in ("allow", "revoke")]
        self._of: dict[str, tuple[list[_Rule], list[_Rule]]] = {}

    def _about(self, audience: str) -> tuple[list[_Rule], list[_Rule]]:
        """The denies, and the allows and revokes newest first, that concern an audience."""
        found = self._of.get(audience)
        if found is None:
            names = (audience, EVERYBODY)
            denies = [r for r in self._denies if r.event.audience in names]
            steps = [r for r in self._steps if r.event.audience in names]
            found = self._of[audience] = (denies, steps)
        return found

    def open(self, key: str, audience: str, purpose: str, now: datetime) -> bool:
        """Whether `audience` may have `key` for `purpose` at `now` (aware).

        An unknown purpose, `*` and `self` have nothing open.
        """
        asked = LEVELS.get(purpose)
        if asked is None or audience in (EVERYBODY, SELF):
            return False
        segments = (key if key.isascii() else unicodedata.normalize("NFC", key)).split(".")
        denies, steps = self._about(audience)
        for rule in denies:
            if rule.level <= asked and rule.holds(now) and rule.covers(segments):
                return False
        for rule in steps:
            if rule.closes:
                if rule.level <= asked and rule.covers(segments):
                    return False
            elif rule.level >= asked and rule.holds(now) and rule.covers(segments):
                return rule.event.audience == audience
        return False

    def open_keys(
        self, keys: Iterable[str], audience: str, purpose: str, now: datetime
    ) -> frozenset[str]:
        """Those of `keys` that are open."""
        return frozenset(key for key in keys if self.open(key, audience, purpose, now))

    def live(self, now: datetime) -> frozenset[int]:
        """Positions of the allows that still open something, and of the denies that still close.

        Revokes and lifts are done when they are made, and are never among them.
        """
        found = {rule.event.position for rule in self._denies if rule.holds(now)}
        found |= {rule.event.position for rule in self._steps if self._standing(rule, now)}
        return frozenset(found)

    def view(self, now: datetime) -> dict[str, Any]:
        """The standing consent: `grants` that hold whole, those `narrowed` by `except`, `denials`.

        Each is `{"id", "key_glob", "audience", "level", "granted_at", "expires"}`; a level that was
        partly taken back shows as what is left of it.
        """
        standing = [self._standing(rule, now) for rule in reversed(self._steps)]
        shown = [one for one in standing if one is not None]
        return {
            "grants": [one for one in shown if "except" not in one],
            "narrowed": [one for one in shown if "except" in one],
            "denials": [_shown(rule, rule.level) for rule in self._denies if rule.holds(now)],
        }

    def touched(self, step: Event, now: datetime) -> tuple[Event, ...]:
        """The earlier steps that one more would narrow or end: none means that it changes nothing.

        For a revoke or deny the allows that still open a key it covers, for a lift its denies.
        """
        if step.effect == "lift":
            about = (step.key_glob, step.audience)
            ended = (rule.event for rule in self._denies if rule.holds(now))
            return tuple(e for e in ended if (e.key_glob, e.audience) == about)
        if step.effect == "allow":
            return ()
        rule = _rule(len(self.events), step)
        return tuple(
            other.event
            for other in reversed(self._steps)
            if step.audience in (EVERYBODY, other.event.audience)
            and rule.level <= other.level
            and rule.meets(other)
            and self._standing(other, now)
        )

    def _standing(self, rule: _Rule, now: datetime) -> dict[str, Any] | None:
        """What is left of an allow, or None."""
        if rule.closes or not rule.holds(now) or rule.event.audience == EVERYBODY:
            return None
        denies, steps = self._about(rule.event.audience)
        later = [r for r in steps if r.closes and r.place > rule.place]
        against = [r for r in (*later, *denies) if r.holds(now) and r.meets(rule)]
        level = min([rule.level, *(r.level - 1 for r in against if r.includes(rule))])
        if level < 0:
            return None
        shown = _shown(rule, level)
        left = [r for r in against if r.level <= level]
        if left:
            shown["except"] = [{"key_glob": r.event.key_glob, "level": r.event.level} for r in left]
        return shown


def _shown(rule: _Rule, level: int) -> dict[str, Any]:
    whole = stored(rule.event)
    return {
        "id": whole["id"],
        "key_glob": whole["key_glob"],
        "audience": whole["audience"],
        "level": next(name for name, number in LEVELS.items() if number == level),
        "granted_at": whole["recorded_at"],
        "expires": whole["expires"],
    }


def fold(history: Iterable[object]) -> Grants:
    """The consent that a history comes to, oldest first: events, or what was kept of them.

    Never raises: see `from_stored` for what is done with what cannot be read.
    """
    events = (kept if isinstance(kept, Event) else from_stored(kept) for kept in history)
    return Grants([event for event in events if event is not None])


def _lifted(events: Sequence[Event]) -> set[int]:
    """Places of the denies that a later lift of exactly their glob and audience has ended."""
    ended: set[int] = set()
    denied: dict[tuple[str, str], list[int]] = {}
    for place, event in enumerate(events):
        about = (event.key_glob, event.audience)
        if event.effect == "deny":
            denied.setdefault(about, []).append(place)
        elif event.effect == "lift":
            ended.update(denied.pop(about, ()))
    return ended
