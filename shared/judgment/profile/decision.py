"""A decision as it was made: what was on offer, what was taken, and what was recorded with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from judgment.contract.profile import CATEGORIES, Category
from judgment.profile import values
from judgment.profile.stimuli import NO_STIMULI, Stimuli, stimuli_from_json

OPTIONS_LIMIT = 24
DRIVERS_LIMIT = 16
DRIVER_RANGE = 10.0
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Option:
    """One thing that could be chosen.

    `drivers` says how much of each driver this option offers, 0 (least) to 1 (most) by
    convention; an option without drivers (none of the above) takes no part in weighing them.
    `risk` is 0 (safe) to 1, or None where the scenario says nothing about it. `approach` names what
    the option does in a word that a sequel's option shares, or None.
    """

    id: str
    label: str
    description: str = ""
    drivers: Mapping[str, float] = field(default_factory=dict[str, float])
    risk: float | None = None
    approach: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The form kept in `judgment.decisions.options`."""
        document: dict[str, Any] = {
            "id": self.id,
            "label": self.label,
            "description": self.description,
            "drivers": dict(self.drivers),
            "risk": self.risk,
        }
        return document if self.approach is None else {**document, "approach": self.approach}


@dataclass(frozen=True)
class Decision:
    """One row of `judgment.decisions`; `confidence` is 0 to 1, `response_ms` is positive."""

    id: UUID
    scenario_id: UUID
    scenario_title: str
    category: str
    theme: str
    options: tuple[Option, ...]
    chosen_option_id: str
    chosen_label: str
    recorded_at: datetime
    rationale: str | None = None
    confidence: float | None = None
    response_ms: int | None = None
    first_option_id: str | None = None
    predicted_peer_option_id: str | None = None
    self_predicted_option_id: str | None = None
    stimuli: Stimuli = NO_STIMULI
    retest_of: UUID | None = None
    outcome_of: UUID | None = None

    @property
    def domain(self) -> Category | None:
        """The decision domain, or None where the row names none of the four."""
        for category in CATEGORIES:
            if category == self.category:
                return category
        return None

    @property
    def chosen(self) -> Option | None:
        """The option taken, or None where the row does not offer it."""
        return next((o for o in self.options if o.id == self.chosen_option_id), None)


def option_from_json(value: object) -> Option | None:
    """An option as stored, or None where it has no usable id."""
    source = values.mapping(value)
    identity = values.label(source.get("id"), 64)
    if identity is None:
        return None
    drivers: dict[str, float] = {}
    for key, raw in list(values.mapping(source.get("drivers")).items())[:DRIVERS_LIMIT]:
        driver, amount = values.name(key), values.number(raw, -DRIVER_RANGE, DRIVER_RANGE)
        if driver is not None and amount is not None:
            drivers[driver] = amount
    return Option(
        id=identity,
        label=values.label(source.get("label")) or identity,
        description=values.text(source.get("description"), 2_000) or "",
        drivers=drivers,
        risk=values.number(source.get("risk"), 0, 1),
        approach=values.name(source.get("approach")),
    )


def decision_from_row(row: Mapping[str, Any]) -> Decision:
    """A row of `judgment.decisions`, whatever its jsonb and text hold. Raises KeyError on no id."""
    options = (option_from_json(v) for v in values.sequence(row.get("options"))[:OPTIONS_LIMIT])
    chosen = values.label(row.get("chosen_option_id"), 64) or ""
    moment = row.get("recorded_at")
    elapsed = values.count(row.get("response_ms"))
    return Decision(
        id=row["id"],
        scenario_id=row["scenario_id"],
        scenario_title=values.label(row.get("scenario_title")) or "Untitled scenario",
        category=values.label(row.get("category"), 64) or "",
        theme=values.label(row.get("theme"), 64) or "",
        options=tuple(option for option in options if option is not None),
        chosen_option_id=chosen,
        chosen_label=values.label(row.get("chosen_label")) or chosen,
        recorded_at=moment if isinstance(moment, datetime) else EPOCH,
        rationale=values.text(row.get("rationale"), 4_000),
        confidence=values.number(row.get("confidence"), 0, 1),
        response_ms=elapsed or None,
        first_option_id=values.label(row.get("first_option_id"), 64),
        predicted_peer_option_id=values.label(row.get("predicted_peer_option_id"), 64),
        self_predicted_option_id=values.label(row.get("self_predicted_option_id"), 64),
        stimuli=stimuli_from_json(row.get("stimuli")),
        retest_of=row.get("retest_of"),
        outcome_of=row.get("outcome_of"),
    )


def in_order(decisions: Iterable[Decision]) -> list[Decision]:
    """Oldest first; the id settles ties, so that the order never depends on how rows arrived."""
    return sorted(decisions, key=lambda d: (d.recorded_at, d.id))
