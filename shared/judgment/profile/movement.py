"""How far a profile has moved: its numeric components, each 0 to 1, and the largest change.

A summary is renewed when one component stands 0.05 or more from where it stood with the last
summary (seed 000 §10.4). The comparison is always with those kept values, never with the decision
before, so that many small moves count as the one large move that they add up to.

A number may cross a line while it hardly moves: a leaning may become clear, or cease to be one.
What can be said of the owner is then another thing, and the summary says the old one. So each
sentence that may be said is a component too, 0 or 0.05 (ADR 085).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from judgment.kit.hashing import sha256_hex
from judgment.profile.observe import observe
from judgment.profile.signals import SIGNALS, Signal

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.profile.shapes import CategoryPattern, SignalReading

MOVE = 0.05
HALFWAY = 0.5
DIGITS = 9
LEADING = "share"
SAID = "said"
_NEUTRAL = {f"signal:{s.name}:{c.name}": c.neutral for s in SIGNALS for c in s.components}


def components(profile: PlayerDecisionProfile) -> dict[str, float]:
    """Every component that the profile holds, by name, 0 to 1.

    `signal:<name>:<component>`; for the two distributions also `signal:<name>:share:<class>`; per
    domain `category:<name>:risk` (0 safest to 1 riskiest), `:speed` (pace / (pace + 2)) and
    `:driver:<name>` ((1 + share) / 2 for a pull towards it, (1 - share) / 2 away from it);
    `said:<about>:<digest>`, 0.05, for each sentence with its numbers left out.
    """
    found: dict[str, float] = {}
    for signal in SIGNALS:
        found.update(_of_signal(signal, profile.signal(signal.name)))
    for pattern in profile.patterns:
        found.update(_of_category(pattern))
    for observation in observe(profile):
        found[f"{SAID}:{observation.about}:{sha256_hex(observation.template)[:8]}"] = MOVE
    return {name: min(max(value, 0.0), 1.0) for name, value in found.items()}


def largest_move(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """The largest absolute change of any component, 0 to 1; symmetric.

    A component that one side lacks stood at its neutral value there. Rounded to nine digits: 0.35
    less 0.3 is 0.05 and no less.
    """
    changes = (
        abs(before.get(name, neutral(name)) - after.get(name, neutral(name)))
        for name in before.keys() | after.keys()
    )
    return round(max(changes, default=0.0), DIGITS)


def neutral(name: str) -> float:
    """Where a component stands without evidence: as its signal says, and else in the middle.

    A sentence stands at 0, unsaid.
    """
    if name.startswith(f"{SAID}:"):
        return 0.0
    of_all_classes = ":".join(name.split(":")[:3])
    return _NEUTRAL.get(of_all_classes, HALFWAY)


def _of_signal(signal: Signal, reading: SignalReading) -> Iterator[tuple[str, float]]:
    if not reading.evidence:
        return
    for component in signal.components:
        name = f"signal:{signal.name}:{component.name}"
        if component.name in reading.numbers:
            yield name, reading.numbers[component.name]
        elif component.name == LEADING and reading.shares:
            yield name, max(reading.shares.values())
            yield from ((f"{name}:{each}", share) for each, share in reading.shares.items())


def _of_category(pattern: CategoryPattern) -> Iterator[tuple[str, float]]:
    about = f"category:{pattern.category}"
    risk, speed = pattern.risk_numbers, pattern.speed_numbers
    if risk.get("n") and "taken" in risk:
        yield f"{about}:risk", risk["taken"]
    if speed.get("n") and speed.get("pace", -1.0) >= 0:
        yield f"{about}:speed", speed["pace"] / (speed["pace"] + 2)
    for pull in pattern.pulls:
        signed = pull.share if pull.weight >= 0 else -pull.share
        yield f"{about}:driver:{pull.name}", (1 + signed) / 2
