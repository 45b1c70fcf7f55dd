"""361 real people's choices between electricity contracts, as decisions.

The file holds one row per contract offered: person, task, four contracts a task, up to twelve
tasks a person, and which contract was taken. Participants are anonymous numbers and stay so. What
the file does not hold (when, how sure, how fast, why) is not made up: `recorded_at` is a plain
sequence, task n of everyone standing at minute n of the year 2000, and the rest is null.

A contract with time-of-day or seasonal rates has no fixed price; the file writes 0 there. In words
it is "time-of-day rates"; for weighing, its price stands in the middle of the prices on offer, so
that a liking for varying rates is seen as predictability and never as a liking for free power.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from judgment.profile.decision import Decision, Option

NAMESPACE = UUID("b8a1f6b2-1f2e-5c1d-9a37-6a1f0f6d7c11")
THEME = "custom"
CATEGORY = "resource-allocation"
QUESTION = "Four electricity contracts are on offer. Which one do you take?"
FIRST_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
CHEAPEST, DEAREST = 7.0, 9.0
LONGEST_YEARS = 5
NO_FIXED_PRICE = 0.5


@dataclass(frozen=True)
class Person:
    """One anonymous participant: the number in the file, and the decisions in order."""

    number: int
    decisions: tuple[Decision, ...]


def people(content: bytes) -> list[Person]:
    """Everyone in the gzipped CSV, by number. Raises ValueError on a task without one choice."""
    text = io.TextIOWrapper(gzip.GzipFile(fileobj=io.BytesIO(content)), encoding="utf-8")
    tasks: dict[int, dict[int, list[Mapping[str, str]]]] = {}
    for row in csv.DictReader(text):
        tasks.setdefault(int(row["id"]), {}).setdefault(int(row["chid"]), []).append(row)
    return [
        Person(number, tuple(_decisions(number, [own[task] for task in sorted(own)])))
        for number, own in sorted(tasks.items())
    ]


def contract_in_words(row: Mapping[str, str]) -> str:
    """One line: the rate, the term, the supplier."""
    if row["tod"] == "1":
        rate = "Time-of-day rates"
    elif row["seas"] == "1":
        rate = "Seasonal rates"
    else:
        rate = f"Fixed at {row['pf']} cents per kWh"
    years = int(row["cl"])
    term = f"{years}-year contract" if years else "no contract term"
    local, known = row["loc"] == "1", row["wk"] == "1"
    kinds = [word for word, holds in (("local", local), ("well-known", known)) if holds]
    return f"{rate}, {term}, {' and '.join(kinds) or 'unfamiliar'} supplier"


def drivers(row: Mapping[str, str]) -> dict[str, float]:
    """How much of each driver a contract offers, 0 to 1 within what the study offers."""
    varies = row["tod"] == "1" or row["seas"] == "1"
    price = (DEAREST - float(row["pf"])) / (DEAREST - CHEAPEST)
    return {
        "price": NO_FIXED_PRICE if varies else price,
        "commitment": int(row["cl"]) / LONGEST_YEARS,
        "local_supplier": float(row["loc"]),
        "known_supplier": float(row["wk"]),
        "predictability": 0.0 if varies else 1.0,
    }


def _decisions(number: int, tasks: list[list[Mapping[str, str]]]) -> Iterable[Decision]:
    for place, rows in enumerate(tasks, start=1):
        options = tuple(
            Option(id=row["alt"], label=contract_in_words(row), drivers=drivers(row))
            for row in rows
        )
        taken = [o for o, row in zip(options, rows, strict=True) if row["choice"] == "TRUE"]
        if len(taken) != 1:
            raise ValueError(f"person {number}, task {place}: {len(taken)} contracts taken")
        yield Decision(
            id=uuid5(NAMESPACE, f"decision/{number}/{place}"),
            scenario_id=uuid5(NAMESPACE, f"scenario/{number}/{place}"),
            scenario_title=f"Electricity contract {place} of {len(tasks)}",
            category=CATEGORY,
            theme=THEME,
            options=options,
            chosen_option_id=taken[0].id,
            chosen_label=taken[0].label,
            recorded_at=FIRST_MOMENT + timedelta(minutes=place),
        )
