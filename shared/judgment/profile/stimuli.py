"""What a round shows and asks besides its options, each in service of one signal.

Stored with the scenario and copied into the decision, so that a signal is always computed from
what the owner saw then. Documents of any age read without raising.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from judgment.kit.ids import parse_uuid
from judgment.profile import values

TEXT_LIMIT = 1_000
OPTIONS_LIMIT = 24


@dataclass(frozen=True)
class Outcome:
    """How an option turned out in the story; `good` is how the story means it."""

    text: str
    good: bool


@dataclass(frozen=True)
class Stimuli:
    """`premise`: shown first, with the question which option the owner expects to take.

    `majority_option_id` and `majority_text`: what most of the story's people favour, asked for and
    then shown before the choice. `counter_arguments`: by option id, shown after a first choice of
    it. `outcomes`: by option id, shown with a later round. `pair`: the key of a matched pair, whose
    scenarios differ only in a character's name. `sequel_of`: the scenario whose outcome this
    round shows first, and whose approaches it offers again.
    """

    premise: str | None = None
    majority_option_id: str | None = None
    majority_text: str | None = None
    counter_arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    outcomes: Mapping[str, Outcome] = field(default_factory=dict[str, Outcome])
    pair: str | None = None
    sequel_of: UUID | None = None

    @property
    def states_majority(self) -> bool:
        """Whether there is a majority to ask for and to show: an option, and words for it."""
        return bool(self.majority_option_id and self.majority_text)

    def to_json(self) -> dict[str, Any]:
        """The stored form, without what the round does not have."""
        document: dict[str, Any] = {
            "premise": self.premise,
            "majority_option_id": self.majority_option_id,
            "majority_text": self.majority_text,
            "counter_arguments": dict(self.counter_arguments),
            "outcomes": {k: {"text": o.text, "good": o.good} for k, o in self.outcomes.items()},
            "pair": self.pair,
            "sequel_of": None if self.sequel_of is None else str(self.sequel_of),
        }
        return {key: value for key, value in document.items() if value}


NO_STIMULI = Stimuli()


def stimuli_from_json(value: object) -> Stimuli:
    """The stored form, read; what is missing or unusable is absent."""
    stored = values.mapping(value)
    if not stored:
        return NO_STIMULI
    return Stimuli(
        premise=values.text(stored.get("premise"), TEXT_LIMIT),
        majority_option_id=values.label(stored.get("majority_option_id"), 64),
        majority_text=values.text(stored.get("majority_text"), TEXT_LIMIT),
        counter_arguments=_texts(stored.get("counter_arguments")),
        outcomes=_outcomes(stored.get("outcomes")),
        pair=values.label(stored.get("pair"), 64),
        sequel_of=parse_uuid(str(stored.get("sequel_of") or "")),
    )


def _texts(value: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, raw in list(values.mapping(value).items())[:OPTIONS_LIMIT]:
        option, text = values.label(key, 64), values.text(raw, TEXT_LIMIT)
        if option is not None and text is not None:
            found[option] = text
    return found


def _outcomes(value: object) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for key, raw in list(values.mapping(value).items())[:OPTIONS_LIMIT]:
        source = values.mapping(raw)
        option, text = values.label(key, 64), values.text(source.get("text"), TEXT_LIMIT)
        if option is not None and text is not None and isinstance(source.get("good"), bool):
            found[option] = Outcome(text, source.get("good") is True)
    return found
