"""What is decided on and by whom: options, opinions, participants, constraints.

Each checks itself when it is made, so that whoever holds one holds a valid one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import Any, Literal, NamedTuple, cast
from unicodedata import is_normalized, normalize

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.text import shown

MAX_TEXT = 200
"""Characters of an id, a key or an attribute's name."""
MAX_TITLE = 1_000
MAX_KEYS = 50
MAX_ATTRIBUTES = 50
MAX_OPINIONS = 100_000

Condition = Literal["requires", "excludes", "at_most", "at_least"]
CONDITIONS: tuple[Condition, ...] = ("requires", "excludes", "at_most", "at_least")
LIMITS: tuple[Condition, ...] = ("at_most", "at_least")


@dataclass(frozen=True, slots=True)
class Option:
    """What can be chosen: the preference keys that it touches, and numbers for constraints.

    Keys are compared in NFC and case-exactly, and kept in order; none stands twice. Raises
    InvalidRequest.
    """

    id: str
    keys: tuple[str, ...]
    title: str = ""
    attributes: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        checked_text("an option's id", self.id)
        if self.title != "":
            _checked_title(self.called, self.title)
        object.__setattr__(self, "keys", _checked_keys(self))
        if self.attributes != {}:
            attributes = _checked_attributes(self.called, self.attributes)
            object.__setattr__(self, "attributes", attributes)

    @property
    def called(self) -> str:
        """How a refusal speaks of it."""
        return f"option {shown(self.id)}"


class Opinion(NamedTuple):
    """What one participant holds of one key: weight in [-1, 1], confidence in [0, 1].

    A stale one has not been confirmed for long. Its participant checks it.
    """

    weight: float
    confidence: float = 1.0
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Participant:
    """Who has a say, with an opinion by key. No opinion is silence. Raises InvalidRequest."""

    id: str
    opinions: Mapping[str, Opinion]

    def __post_init__(self) -> None:
        checked_text("a participant's id", self.id)
        held: Any = self.opinions
        if not isinstance(held, Mapping):
            raise InvalidRequest(f"{self.called}: opinions must be given by key")
        opinions = cast("Mapping[Any, Any]", held)
        if len(opinions) > MAX_OPINIONS:
            raise InvalidRequest(f"{self.called}: {len(opinions)} opinions, at most {MAX_OPINIONS}")
        kept: dict[str, Opinion] = {}
        for key, opinion in opinions.items():
            # Written out: this runs once for each opinion of a large group.
            if type(opinion) is Opinion and type(key) is str and key.isascii():
                weight, confidence, stale = opinion
                if (
                    0 < len(key) <= MAX_TEXT
                    and type(weight) is float
                    and type(confidence) is float
                    and (-1.0 <= weight < 0.0 or 0.0 < weight <= 1.0)
                    and 0.0 < confidence <= 1.0
                    and (stale is True or stale is False)
                ):
                    kept[key] = opinion
                    continue
            name = checked_key(f"{self.called}: a key", key)
            kept[name] = _checked_opinion(self.called, name, opinion)
        if len(kept) < len(opinions):
            raise InvalidRequest(f"{self.called}: a key stands twice, in two spellings of one text")
        object.__setattr__(self, "opinions", kept)

    @property
    def called(self) -> str:
        """How a refusal speaks of them."""
        return f"participant {shown(self.id)}"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition that an option must meet, whatever anybody's opinion.

    `requires` and `excludes` speak of a key that the option touches, `at_most` and `at_least` of
    an attribute and an `amount`; an option without that attribute does not meet it. `by` names
    the participant who asks for it, None the group. Raises InvalidRequest.
    """

    kind: Condition
    subject: str
    amount: float | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in CONDITIONS:
            raise InvalidRequest(f"a constraint is one of {', '.join(CONDITIONS)}")
        subject = checked_key(f"the subject of {self.kind}", self.subject)
        object.__setattr__(self, "subject", subject)
        where = f"{self.kind} {shown(subject)}"
        if self.kind in LIMITS:
            object.__setattr__(self, "amount", checked_number(f"{where}: amount", self.amount))
        elif self.amount is not None:
            raise InvalidRequest(f"{where} takes no amount")
        if self.by is not None:
            checked_text(f"{where}: by", self.by)

    @property
    def order(self) -> tuple[str, str, float, str]:
        """Where it stands among others."""
        return (self.kind, self.subject, self.amount or 0.0, self.by or "")


def checked_text(what: str, text: Any) -> str:
    """A name of 1 to MAX_TEXT characters that can be written down. Raises InvalidRequest."""
    if not isinstance(text, str) or not text:
        raise InvalidRequest(f"{what} must be a text that is not empty")
    if len(text) > MAX_TEXT:
        raise InvalidRequest(f"{what} has {len(text)} characters, at most {MAX_TEXT}")
    if not text.isascii() and any("\ud800" <= one <= "\udfff" for one in text):
        raise InvalidRequest(f"{what} holds half a character (a lone surrogate)")
    return text


def checked_key(what: str, text: Any) -> str:
    """The same in NFC, in which keys are compared. Raises InvalidRequest."""
    key = checked_text(what, text)
    return key if key.isascii() or is_normalized("NFC", key) else normalize("NFC", key)


def checked_number(
    what: str, number: Any, low: float = float("-inf"), high: float = float("inf")
) -> float:
    """A finite float within [low, high], zero without a sign. Raises InvalidRequest."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InvalidRequest(f"{what} must be a number")
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if not isfinite(value):
        raise InvalidRequest(f"{what} must be a finite number")
    if not low <= value <= high:
        raise InvalidRequest(f"{what} must be within [{low:g}, {high:g}]")
    return value + 0.0


def _checked_opinion(where: str, key: str, opinion: Any) -> Opinion:
    what = f"{where}: {shown(key)}"
    if not isinstance(opinion, Opinion):
        raise InvalidRequest(f"{what} has no opinion to it")
    if opinion.stale is not True and opinion.stale is not False:
        raise InvalidRequest(f"{what}: stale must be true or false")
    return Opinion(
        checked_number(f"{what}: weight", opinion.weight, -1.0, 1.0),
        checked_number(f"{what}: confidence", opinion.confidence, 0.0, 1.0),
        opinion.stale,
    )


def _is_plain(text: Any) -> bool:
    """Whether a look is enough: most names and keys are ASCII."""
    return type(text) is str and text.isascii() and 0 < len(text) <= MAX_TEXT


def _checked_title(where: str, title: Any) -> None:
    if not isinstance(title, str) or len(title) > MAX_TITLE:
        raise InvalidRequest(f"{where}: title must be a text of at most {MAX_TITLE} characters")
    if any("\ud800" <= one <= "\udfff" for one in title):
        raise InvalidRequest(f"{where}: title holds half a character (a lone surrogate)")


def _checked_keys(option: Option) -> tuple[str, ...]:
    written: Any = option.keys
    if not isinstance(written, tuple | list):
        raise InvalidRequest(f"{option.called}: keys must be a list of texts")
    keys = cast("tuple[Any, ...] | list[Any]", written)
    if len(keys) > MAX_KEYS:
        raise InvalidRequest(f"{option.called}: {len(keys)} keys, at most {MAX_KEYS}")
    if not all(map(_is_plain, keys)):
        keys = [checked_key(f"{option.called}: a key", key) for key in keys]
    ordered = sorted(keys)
    if len(set(ordered)) < len(ordered):
        twice = next(one for one, after in pairwise(ordered) if one == after)
        raise InvalidRequest(f"{option.called}: key {shown(twice)} stands twice")
    return tuple(ordered)


def _checked_attributes(where: str, attributes: Any) -> dict[str, float]:
    if not isinstance(attributes, Mapping):
        raise InvalidRequest(f"{where}: attributes must be numbers by name")
    written = cast("Mapping[Any, Any]", attributes)
    if len(written) > MAX_ATTRIBUTES:
        raise InvalidRequest(f"{where}: {len(written)} attributes, at most {MAX_ATTRIBUTES}")
    kept: dict[str, float] = {}
    for name, amount in written.items():
        key = checked_key(f"{where}: an attribute's name", name)
        if key in kept:
            raise InvalidRequest(f"{where}: attribute {shown(key)} stands twice")
        kept[key] = checked_number(f"{where}: attribute {shown(key)}", amount)
    return {name: kept[name] for name in sorted(kept)}
