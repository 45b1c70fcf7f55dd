"""Plain values of the debounce and of a regeneration, and the shape of a model's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict


@dataclass(frozen=True)
class Due:
    """A regeneration is wanted from `run_after` on.

    `became_pending`: this request is the first to want it, so whoever made it sends the wake-up
    once its transaction has committed.
    """

    run_after: datetime
    became_pending: bool


@dataclass(frozen=True)
class Claim:
    """The right to write the texts of one owner once; `seq` tells this claim from every other."""

    seq: int
    correlation_id: str


@dataclass(frozen=True)
class Overdue:
    """An owner whose wake-up was lost, or whose worker died: to be woken from `run_after` on."""

    user_id: UUID
    run_after: datetime
    correlation_id: str


@dataclass(frozen=True)
class State:
    """What is known of an owner's last summary.

    `components` are the profile's numbers, 0 to 1, that it was written from; `games_analyzed` is
    None before the first one. `failures` counts the times in a row that no model answer came.
    """

    components: Mapping[str, float]
    games_analyzed: int | None
    run_after: datetime | None
    last_failure: str | None = None
    failures: int = 0


@dataclass(frozen=True)
class Finished:
    """What a regeneration leaves behind beside the texts, to measure the next move against."""

    components: Mapping[str, float]
    games_analyzed: int | None
    last_failure: str | None
    failures: int


class Sentence(BaseModel):
    """One sentence and the ids of the facts it puts into words."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    text: str
    facts: list[str]


class Written(BaseModel):
    """A model's answer: sentences for the summary, and for the context block of agents."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    summary: list[Sentence]
    block: list[Sentence]
