"""The scaffold of a personal round: a flat, bounded shape to fill, and the code around it.

A model writes words and says what each option offers. Ids, none of the above, theme, domain, owner
and which stimulus there is are put here, so that no answer can change them; what it did write is
held to the rules of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from judgment.profile.decision import Option
from judgment.profile.stimuli import NO_STIMULI, Stimuli
from judgment.scenarios.model import NONE_ID, PERSONAL, Scenario

if TYPE_CHECKING:
    from judgment.scenarios.personal.domain import Stimulus, Target

OPTIONS_MOST = 4
_IDS = ("a", "b", "c", "d")
NONE_LABEL = "None of the above"
NONE_TEXT = "I would do something else, or leave it as it is."

DriverName = Literal[
    "fairness",
    "loyalty",
    "autonomy",
    "transparency",
    "stability",
    "growth",
    "speed",
    "long_term",
    "harmony",
    "merit",
    "care",
    "thrift",
]
"""`profile.drivers.SCENARIO_DRIVERS` as a type."""
Title = Annotated[str, Field(min_length=3, max_length=100)]
Text = Annotated[str, Field(min_length=1, max_length=400)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Filled(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Offer(_Filled):
    """How much of a driver an option offers, 0 to 1."""

    driver: DriverName
    amount: Share


class DraftOption(_Filled):
    """One option. `risk` is 0 (safe) to 1."""

    label: Title
    description: Text
    offers: Annotated[list[Offer], Field(min_length=1, max_length=4)]
    risk: Share


class Draft(_Filled):
    """What a model fills in for a round without stimulus."""

    title: Title
    description: Annotated[str, Field(min_length=40, max_length=1_200)]
    constraints: Annotated[list[Text], Field(min_length=1, max_length=5)]
    options: Annotated[list[DraftOption], Field(min_length=3, max_length=OPTIONS_MOST)]

    def stimuli(self) -> Stimuli:
        """What the round shows besides its options."""
        return NO_STIMULI


class DraftWithPremise(Draft):
    """`premise` is shown first, alone, and the owner says what they expect to choose."""

    premise: Text

    def stimuli(self) -> Stimuli:
        """The premise."""
        return Stimuli(premise=self.premise.strip())


class DraftWithMajority(Draft):
    """What most of the people in the story favour: an option by number, and a sentence on it."""

    majority_option: Annotated[int, Field(ge=1, le=OPTIONS_MOST)]
    majority_text: Text

    def stimuli(self) -> Stimuli:
        """The majority; an option that is not there stays nameless and is complained of."""
        offered = self.majority_option <= len(self.options)
        return Stimuli(
            majority_option_id=_IDS[self.majority_option - 1] if offered else None,
            majority_text=self.majority_text.strip(),
        )


class DraftWithCounterArguments(Draft):
    """One argument against each option, in the order of the options."""

    counter_arguments: Annotated[list[Text], Field(min_length=3, max_length=OPTIONS_MOST)]

    def stimuli(self) -> Stimuli:
        """The arguments by option; one too few or too many is complained of."""
        texts = (text.strip() for text in self.counter_arguments)
        return Stimuli(counter_arguments=dict(zip(_IDS, texts, strict=False)))


SHAPES: dict[Stimulus | None, type[Draft]] = {
    None: Draft,
    "premise": DraftWithPremise,
    "majority": DraftWithMajority,
    "counter_arguments": DraftWithCounterArguments,
}


def assembled(draft: Draft, target: Target, scenario_id: UUID, owner: UUID) -> Scenario:
    """The round that the draft makes; it may break rules still."""
    return Scenario(
        id=scenario_id,
        theme=PERSONAL,
        category=target.category,
        title=draft.title.strip(),
        description=draft.description.strip(),
        constraints=tuple(text.strip() for text in draft.constraints),
        options=(*_options(draft.options), Option(NONE_ID, NONE_LABEL, NONE_TEXT)),
        stimuli=draft.stimuli(),
        owner_user_id=owner,
    )


def _options(drafts: Sequence[DraftOption]) -> list[Option]:
    return [
        Option(
            id=identity,
            label=draft.label.strip(),
            description=draft.description.strip(),
            drivers={offer.driver: offer.amount for offer in draft.offers},
            risk=draft.risk,
        )
        for identity, draft in zip(_IDS, drafts, strict=False)
    ]
