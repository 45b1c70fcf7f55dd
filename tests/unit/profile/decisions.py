"""Decisions for tests: one by hand, many by Hypothesis."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID, uuid5

from hypothesis import strategies as st

from judgment.contract.profile import CATEGORIES
from judgment.profile.decision import Decision, Option

NAMESPACE = UUID("00000000-0000-0000-0000-000000000001")
START = datetime(2026, 1, 1, tzinfo=UTC)
DRIVERS = ("price", "commitment", "team_harmony")
AMOUNTS = (0.0, 0.25, 0.5, 1.0)
OFFERS = [
    ({d: a for d, a in zip(DRIVERS, amounts, strict=True) if a is not None}, risk)
    for *amounts, risk in product((None, *AMOUNTS), repeat=len(DRIVERS) + 1)
]
"""Every set of drivers and every risk an option may have; one draw names one, which is quick."""


def option(place: int, *, risk: float | None = None, **drivers: float) -> Option:
    """An option with its place as id."""
    return Option(id=str(place), label=f"Option {place}", drivers=drivers, risk=risk)


def decision(number: int, options: list[Option], chosen: int, **more: Any) -> Decision:
    """Decision `number`, made at minute `number`, in which the option at index `chosen` won."""
    values = {
        "id": uuid5(NAMESPACE, f"d{number}"),
        "scenario_id": uuid5(NAMESPACE, f"s{number}"),
        "scenario_title": f"Round {number}",
        "category": "governance",
        "theme": "boardroom",
        "options": tuple(options),
        "chosen_option_id": options[chosen].id,
        "chosen_label": options[chosen].label,
        "recorded_at": START + timedelta(minutes=number),
    }
    return Decision(**{**values, **more})


@st.composite
def histories(draw: st.DrawFn, least: int = 0, most: int = 24) -> list[Decision]:
    """Any history: mixed domains, options with and without drivers, retests, times, confidences."""
    found: list[Decision] = []
    for number in range(draw(st.integers(least, most))):
        offers = draw(st.lists(st.sampled_from(OFFERS), min_size=2, max_size=4))
        options = [option(n, risk=risk, **drivers) for n, (drivers, risk) in enumerate(offers)]
        earlier = st.sampled_from([d.id for d in found]) if found else st.nothing()
        found.append(
            decision(
                number,
                options,
                draw(st.integers(0, len(options) - 1)),
                category=draw(st.sampled_from(CATEGORIES)),
                confidence=draw(st.sampled_from([None, 0.0, 0.5, 0.9, 1.0])),
                response_ms=draw(st.none() | st.integers(1, 200_000)),
                retest_of=draw(st.none() | st.none() | earlier),
            )
        )
    return found
