"""Profile → observations: the one place where a profile is put into words.

Everything said about an owner is an `Observation`, a template and the numbers it is filled with.
`observe` makes them all; the wire's one-liners and trends, the summary and the context block are
the same observations, so that none of them can say what the numbers do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter
from typing import TYPE_CHECKING

from judgment.profile import drivers
from judgment.profile.language import STYLE_WORDS
from judgment.profile.observations import Observation, Value
from judgment.profile.shapes import (
    CLEAR_Z,
    LEAN_Z,
    SPARSE_BELOW,
    CategoryPattern,
    Pull,
    SignalReading,
)
from judgment.profile.signals import SIGNALS, Signal

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile

CLEAR = "Clearly leans towards {towards} ({share:.0%} of the pull)"
PERHAPS = "Perhaps leans towards {towards} ({share:.0%} of the pull)"
TAKEN = ": took the option best on that in {took} of {differed} decisions, {chance:.1f} by chance."
UNCOUNTED = "."
FLAT = "No pull that could be told from chance, over {weighed} decisions: {drivers}."
KIND = 'All {n} are of one kind, "{kind}": elsewhere the owner may weigh things differently.'
MOSTLY = (
    'Of {n} decisions {of_kind} are of one kind, "{kind}": elsewhere the owner may weigh things '
    "differently."
)
OWN_PATTERN = (
    "The other choices point to the one taken in {hits} of {of} decisions, {chance:.1f} by chance."
)
NO_PATTERN = (
    "The other choices point to the one taken in {hits} of {of} decisions, {chance:.1f} by chance: "
    "too few to say what weighs."
)
COMPARISON = "{over} outweighs {under}, about {ratio:.1f} times."
TREND = (
    "The weight on {driver} went from {early:+.1f} to {late:+.1f} between the earlier and the "
    "later half of {decisions} decisions."
)
EARLIER_PRIMARY = "An earlier app names {driver} as the main driver, over {decisions} decisions."
EARLIER_SECONDARY = "An earlier app names further drivers: {drivers}."
RISK = (
    "Risk tolerance {level}: choices lie {taken:.0%} of the way from the safest to the riskiest "
    "option on offer, over {n} decisions."
)
SPEED = "Decides at a {level} speed: {pace:.2f} times the reading time, over {n} timed decisions."
RULE = 'When "{trigger}": "{shift}" (confidence {confidence:.2f}).'
SPARSE = "Not known yet: {n} of the {needed} {unit} it needs."
EARLIER_SHARE = "An earlier app stored {leading} highest, at {share:.2f}, over {n} decisions."
EARLIER_FORM = "Stored by an earlier app over {n} decisions, in a form not read here."
_QUOTES = re.compile(
    '["\u201c-\u201f\u00ab\u00bb\u2033-\u2037\u2057\uff02\u02ba\u02dd\u02ee\u02f5\u02f6\u05f4\u2e42'
    "\u300c-\u300f\u301d-\u301f\u3003\u275d\u275e\u2760\u276e\u276f\U0001f676-\U0001f678\u2e21]"
)
_MARKS = re.compile(r"[`#*<>|{}\[\]\\~=]+")
_ROLE = re.compile(r"(system|developer|assistant|user|human|tool|owner)\s?:", re.IGNORECASE)


def observe(profile: PlayerDecisionProfile) -> Iterator[Observation]:
    """Everything that can be said: domains first, then known signals, then context rules.

    Of the signals those come first that stand where no evidence would not put them.
    """
    for pattern in profile.patterns:
        yield from observe_category(pattern)
    known = [(s, r) for s in SIGNALS if (r := profile.signal(s.name)).state != "sparse"]
    for signal, reading in sorted(known, key=lambda pair: not _tells(*pair)):
        yield observe_signal(signal, reading)
    for rule in profile.rules:
        numbers = {
            "trigger": rule.trigger.replace("_", " "),
            "shift": _unmarked(rule.behavior_shift),
            "confidence": rule.confidence,
        }
        yield Observation(f"rule:{rule.trigger}", RULE, numbers)


def observe_category(pattern: CategoryPattern) -> Iterator[Observation]:
    """What can be said of one domain, strongest first."""
    about = f"category:{pattern.category}"
    pulls = claimed(pattern)
    if pattern.kind and pattern.decisions >= SPARSE_BELOW:
        numbers = {"n": pattern.decisions, "kind": _unmarked(pattern.kind)}
        if pattern.of_kind < pattern.decisions:
            yield Observation(f"{about}:kind", MOSTLY, {**numbers, "of_kind": pattern.of_kind})
        else:
            yield Observation(f"{about}:kind", KIND, numbers)
    for pull in pulls:
        yield _observe_pull(about, pattern, pull)
    if pattern.comparison and pulls:
        weights = {pull.name: pull.weight for pull in pattern.pulls}
        over, under = pattern.comparison.over, pattern.comparison.under
        numbers = {
            "over": drivers.in_words(over, weights.get(over, 0.0)).capitalize(),
            "under": drivers.in_words(under, weights.get(under, 0.0)),
            "ratio": pattern.comparison.ratio,
        }
        yield Observation(f"{about}:comparison", COMPARISON, numbers)
    if pattern.own:
        own = pattern.own
        yield Observation(
            f"{about}:own_pattern",
            OWN_PATTERN if own.beats_chance else NO_PATTERN,
            {"hits": own.hits, "of": own.of, "chance": own.chance},
        )
    yield from _observe_earlier(about, pattern)
    yield from _observe_manner(about, pattern)
    flat = [drivers.spoken(p.name) for p in pattern.pulls if p.sd and p not in pulls]
    if flat and pattern.own:
        numbers = {"weighed": pattern.own.of, "drivers": ", ".join(sorted(flat))}
        yield Observation(f"{about}:flat", FLAT, numbers)


def observe_signal(signal: Signal, reading: SignalReading) -> Observation:
    """A signal's sentence; below 4 supporting decisions only what it still needs."""
    about, n = f"signal:{signal.name}", reading.evidence
    if reading.state == "sparse":
        return Observation(about, SPARSE, {"n": n, "needed": SPARSE_BELOW, "unit": signal.unit})
    numbers, measured = _with_leading(reading), _measured(signal, reading)
    if measured is not None:
        template = signal.sentence(measured, n)
        if _fields(template) <= numbers.keys():
            return Observation(about, template, numbers)
    if "leading" in numbers:
        return Observation(about, EARLIER_SHARE, numbers)
    return Observation(about, EARLIER_FORM, {"n": n})


def claimed(pattern: CategoryPattern) -> tuple[Pull, ...]:
    """The pulls that stand at least 1.28 of their own deviations from zero, strongest first.

    None where the owner's choices do not predict one another better than guessing would: without
    this, one in six drivers of somebody who picks at random would be claimed (ADR 046).
    """
    if pattern.own is not None and not pattern.own.beats_chance:
        return ()
    found = (p for p in pattern.pulls if p.sd and abs(p.weight) / p.sd >= LEAN_Z)
    return tuple(sorted(found, key=lambda p: (-p.share, p.name)))


def trend_of(pattern: CategoryPattern) -> Observation | None:
    """The trend as an observation, or None; an earlier app's own words are not one."""
    trend = pattern.trend
    if trend is None:
        return None
    numbers: dict[str, Value] = {
        "driver": drivers.driver(trend.driver).more,
        "early": trend.early,
        "late": trend.late,
        "decisions": trend.decisions,
    }
    return Observation(f"category:{pattern.category}:trend", TREND, numbers)


def driver_names(pattern: CategoryPattern) -> tuple[str, ...]:
    """Wire names of the drivers that can be claimed, strongest first; else what is stored."""
    pulls = claimed(pattern)
    if pulls:
        return tuple(drivers.wire_name(p.name, p.weight) for p in pulls)
    if pattern.primary:
        rest = (name for name in pattern.secondary if name != pattern.primary)
        return (pattern.primary, *rest)
    bare = sorted((p for p in pattern.pulls if p.sd is None), key=lambda p: -abs(p.weight))
    return tuple(drivers.wire_name(p.name, p.weight) for p in bare)


def _observe_pull(about: str, pattern: CategoryPattern, pull: Pull) -> Observation:
    clear = abs(pull.weight) / (pull.sd or 1.0) >= CLEAR_Z
    lean = CLEAR if clear else PERHAPS
    about = f"{about}:driver:{pull.name}"
    numbers: dict[str, Value] = {
        "towards": drivers.in_words(pull.name, pull.weight),
        "share": pull.share,
    }
    tally = pattern.tallies.get(pull.name)
    if tally is None:
        return Observation(about, lean + UNCOUNTED, numbers)
    most = pull.weight >= 0
    numbers |= {
        "took": tally.took_most if most else tally.took_least,
        "differed": tally.differed,
        "chance": tally.chance_most if most else tally.chance_least,
    }
    return Observation(about, lean + TAKEN, numbers)


def _observe_earlier(about: str, pattern: CategoryPattern) -> Iterator[Observation]:
    if claimed(pattern) or not (names := driver_names(pattern)):
        return
    numbers: dict[str, Value] = {
        "driver": drivers.spoken(names[0]),
        "decisions": pattern.decisions,
    }
    yield Observation(f"{about}:earlier_primary", EARLIER_PRIMARY, numbers)
    if names[1:]:
        listed = ", ".join(map(drivers.spoken, names[1:]))
        yield Observation(f"{about}:earlier_secondary", EARLIER_SECONDARY, {"drivers": listed})


def _observe_manner(about: str, pattern: CategoryPattern) -> Iterator[Observation]:
    risk, speed = pattern.risk_numbers, pattern.speed_numbers
    if risk.get("n", 0) >= SPARSE_BELOW and "taken" in risk:
        numbers: dict[str, Value] = {
            "level": pattern.risk,
            "taken": risk["taken"],
            "n": int(risk["n"]),
        }
        yield Observation(f"{about}:risk", RISK, numbers)
    if speed.get("n", 0) >= SPARSE_BELOW and "pace" in speed:
        numbers = {"level": pattern.speed, "pace": speed["pace"], "n": int(speed["n"])}
        yield Observation(f"{about}:speed", SPEED, numbers)
    trend = trend_of(pattern)
    if trend:
        yield trend


def _tells(signal: Signal, reading: SignalReading) -> bool:
    measured = _measured(signal, reading)
    return measured is not None and signal.place(measured) != signal.place(signal.neutral)


def _measured(signal: Signal, reading: SignalReading) -> float | None:
    found = reading.numbers.get(signal.measure)
    if found is None and signal.measure == "share" and reading.shares:
        return max(reading.shares.values())
    return found


def _unmarked(text: str) -> str:
    """Foreign text on its way between two quotes: no quote, mark-up or role marker of its own."""
    plain = _ROLE.sub(r"\1 -", _MARKS.sub("", _QUOTES.sub("'", text)))
    return " ".join(plain.split()) or "…"


def _with_leading(reading: SignalReading) -> dict[str, Value]:
    numbers: dict[str, Value] = {
        key: int(value) if value.is_integer() else value for key, value in reading.numbers.items()
    }
    numbers["n"] = reading.evidence
    if reading.shares:
        leading = max(reading.shares, key=lambda key: (reading.shares[key], key))
        in_words = STYLE_WORDS.get(leading) or drivers.spoken(leading)
        numbers |= {"leading": in_words, "share": reading.shares[leading]}
    return numbers


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}
