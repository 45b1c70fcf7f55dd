"""A second opinion on the signals: every sentence made again from a simulated owner's rounds.

Shares no code with the product. What a rationale says is not heard in it but known, because the
owner's sentences were written for one style and one driver each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from tests.unit.profile.recomputation import moved, points_to, weighed
from tests.unit.profile.simulated import DRIVER_SENTENCES, STYLE_SENTENCES

if TYPE_CHECKING:
    from judgment.profile.decision import Decision

STYLES = {
    "principled": "principle",
    "consequence": "consequences",
    "people": "concern for people",
    "evidence": "evidence",
    "precedent": "precedent",
    "intuition": "intuition",
}
DOMAINS = ("governance", "values-culture", "resource-allocation", "team-dynamics")


def all_sentences(rounds: Sequence[Decision]) -> list[str]:
    """Everything that may be said of an owner who played the simulated set."""
    firsts = [d for d in rounds if d.retest_of is None]
    said = [s for domain in DOMAINS for s in _domain([d for d in firsts if d.category == domain])]
    by_id = {d.id: d for d in rounds}
    repeats = [(by_id[d.retest_of], d) for d in rounds if d.retest_of is not None]
    same = sum(a.chosen_option_id == b.chosen_option_id for a, b in repeats)
    return [
        *said,
        _style(firsts),
        _attention(firsts),
        _confidence(firsts, repeats),
        _time(firsts),
        *_beside_others(firsts),
        _authenticity(firsts),
        _learning(firsts, by_id),
        _noise(same, len(repeats)),
        _foresight(firsts),
        _names(firsts, same, len(repeats)),
    ]


def _domain(rounds: Sequence[Decision]) -> list[str]:
    risks = [
        (_taken(d).risk - min(risk)) / (max(risk) - min(risk))
        for d in rounds
        if (risk := [o.risk for o in d.options if o.risk is not None])
    ]
    place = (sum(risks) + 2) / (len(risks) + 4)
    level = "low" if place <= 0.35 else "high" if place >= 0.65 else "medium"
    pace = median(d.response_ms / _reading(d) for d in rounds)
    speed = "quick" if pace < 1 else "deliberate" if pace >= 4 else "balanced"
    found = [
        f"Risk tolerance {level}: choices lie {place:.0%} of the way from the safest to the "
        f"riskiest option on offer, over {len(risks)} decisions.",
        f"Decides at a {speed} speed: {pace:.2f} times the reading time, over {len(rounds)} timed "
        "decisions.",
    ]
    _, early, late, z = change = moved(rounds)
    if abs(z) >= 2.5:
        found.append(
            f"The weight on {change[0]} went from {early:+.1f} to {late:+.1f} between the earlier "
            f"and the later half of {len(rounds)} decisions."
        )
    return weighed(rounds) + found


def _style(rounds: Sequence[Decision]) -> str:
    styles = Counter(_said(d)[0] for d in rounds)
    leading = max(styles, key=lambda s: (styles[s], s))
    most, n = styles[leading], len(rounds)
    share = (most + 1) / (n + 6)
    how = ("Argues in several ways,", "Argues", "Argues nearly always")[_place(share, 0.4, 0.75)]
    often = "" if share > 0.75 else " most often"
    return f"{how}{often} from {STYLES[leading]}: {most} of {n} rationales that show a style."


def _attention(rounds: Sequence[Decision]) -> str:
    speaking = [d for d in rounds if _said(d)[1]]
    spoken = Counter(_said(d)[1] for d in speaking)
    offered = {name for d in speaking for name in d.options[0].drivers}
    leading = max(offered, key=lambda name: (spoken[name], name))
    n = len(speaking)
    share = (spoken[leading] + 1) / (n + len(offered))
    how = (
        "Looks at many sides in words, most often",
        "Looks most often",
        "Looks nearly always",
    )[_place(share, 0.4, 0.75)]
    part = f"{spoken[leading] / n:.0%} of what {n} rationales speak of."
    return f"{how} at {leading.replace('_', ' ')}: {part}"


def _confidence(firsts: Sequence[Decision], repeats: Sequence[tuple[Decision, Decision]]) -> str:
    holds = {}
    for domain in DOMAINS:
        inside = [d for d in firsts if d.category == domain]
        holds |= dict(zip((d.id for d in inside), points_to(inside), strict=True))
    for before, after in repeats:
        holds[before.id] = before.chosen_option_id == after.chosen_option_id
    n, held = len(holds), sum(holds.values())
    mean = sum(d.confidence for d in firsts) / len(firsts)
    over = ((mean - held / n) * n / (n + 4) + 1) / 2
    how, link = (
        ("Less sure than their choices bear out", "while"),
        ("As sure as their choices bear out", "and"),
        ("Surer than their choices bear out", "while"),
    )[_place(over, 0.4, 0.6)]
    return f"{how}: mean confidence {mean:.0%}, {link} {held} of {n} such decisions hold."


def _time(rounds: Sequence[Decision]) -> str:
    pace = median(d.response_ms / _reading(d) for d in rounds)
    seconds, n = median(d.response_ms for d in rounds) / 1000, len(rounds)
    slow = (pace / (pace + 2) * n + 2) / (n + 4)
    how = ("Decides fast", "Takes a usual time", "Takes time")[_place(slow, 1 / 3, 2 / 3)]
    return (
        f"{how}: a median {seconds:.0f} s, {pace:.1f} times what reading the options takes, over "
        f"{n} timed decisions."
    )


def _beside_others(rounds: Sequence[Decision]) -> list[str]:
    argued = [d for d in rounds if d.first_option_id]
    k, n = sum(d.first_option_id != d.chosen_option_id for d in argued), len(argued)
    moved_by = (
        f"Keeps a first choice under counter-argument: changed {k} of {n} first choices.",
        f"Sometimes leaves a first choice under counter-argument: changed {k} of {n} first "
        "choices.",
        f"Often leaves a first choice under counter-argument: changed {k} of {n} first choices.",
    )
    shown = [d for d in rounds if d.stimuli.majority_option_id]
    right, of = sum(d.predicted_peer_option_id == _majority(d) for d in shown), len(shown)
    read = (
        f"Seldom foresees others: right in {right} of {of} predictions.",
        f"Foresees others about as often as not: right in {right} of {of} predictions.",
        f"Reads others well: right in {right} of {of} predictions.",
    )
    apart = sum(d.chosen_option_id != _majority(d) for d in shown)
    against = (
        f"Mostly goes with a stated majority: against it in {apart} of {of} rounds.",
        f"Goes now with a stated majority, now against it: against it in {apart} of {of} rounds.",
        f"Often goes against a stated majority: in {apart} of {of} rounds.",
    )
    return [
        _share(moved_by, k, n, 0.25, 0.6),
        _share(read, right, of, 0.4, 0.7),
        _share(against, apart, of, 0.3, 0.8, most=0.75),
    ]


def _authenticity(rounds: Sequence[Decision]) -> str:
    speaking = [d for d in rounds if _said(d)[1]]
    k, n = 0, len(speaking)
    for d in speaking:
        offered = [o.drivers.get(_said(d)[1], 0) for o in d.options]
        k += _taken(d).drivers[_said(d)[1]] == max(offered)
    how = (
        "Reasons and choices often part",
        "Reasons and choices meet at times",
        "Reasons and choices mostly meet",
    )
    numbers = f"the option taken serves a reason given in {k} of {n} rationales."
    return _share([f"{said}: {numbers}" for said in how], k, n, 0.4, 0.7)


def _learning(rounds: Sequence[Decision], by_id: dict) -> str:
    sequels = [(by_id[d.outcome_of], d) for d in rounds if d.outcome_of]
    k, n = sum(_taken(a).approach != _taken(b).approach for a, b in sequels), len(sequels)
    how = ("Keeps", "Now keeps and now leaves", "Leaves")
    numbers = f"an approach after a bad outcome: took another one after {k} of {n} seen."
    return _share([f"{said} {numbers}" for said in how], k, n, 0.3, 0.8, most=0.75)


def _noise(same: int, n: int) -> str:
    how = ("Steady", "Fairly steady", "Varies with the occasion")
    numbers = f"gave the same answer in {same} of {n} repeated decisions."
    return _share([f"{said}: {numbers}" for said in how], n - same, n, 0.25, 0.5)


def _foresight(rounds: Sequence[Decision]) -> str:
    asked = [d for d in rounds if d.self_predicted_option_id]
    k, n = sum(d.self_predicted_option_id == d.chosen_option_id for d in asked), len(asked)
    said = (
        f"Often surprised by their own choice: foresaw {k} of {n} predicted.",
        f"Foresees some of their own choices: {k} of {n} predicted.",
        f"Knows how they will choose: foresaw {k} of {n} predicted.",
    )
    return _share(said, k, n, 0.4, 0.7)


def _names(rounds: Sequence[Decision], same: int, repeats: int) -> str:
    answers: dict[str, list[str]] = {}
    for d in rounds:
        if d.stimuli.pair:
            answers.setdefault(d.stimuli.pair, []).append(d.chosen_option_id)
    pairs = [found for found in answers.values() if len(found) == 2]
    k, n = sum(one != other for one, other in pairs), len(pairs)
    noise = (repeats - same + 1) / (repeats + 2)
    how = (
        "A name makes no difference that could be told",
        "A name may make a difference",
        "A name changes choices",
    )[_place(max((k + 1) / (n + 2) - noise, 0), 0.2, 0.5)]
    return f"{how}: {k} of {n} matched pairs differ, {noise * n:.1f} by occasion noise alone."


def _said(d: Decision) -> tuple[str | None, str | None]:
    style = next((s for s, text in STYLE_SENTENCES.items() if text in d.rationale), None)
    driver = next((s for s, text in DRIVER_SENTENCES.items() if text in d.rationale), None)
    return style, driver


def _taken(d: Decision):
    return next(o for o in d.options if o.id == d.chosen_option_id)


def _majority(d: Decision) -> str | None:
    return d.stimuli.majority_option_id


def _reading(d: Decision) -> float:
    text = " ".join([d.scenario_title, *(f"{o.label} {o.description}" for o in d.options)])
    return len(text.split()) * 60_000 / 238


def _share(
    said: Sequence[str], k: int, n: int, low: float, high: float, *, most: float = 0.5
) -> str:
    """The sentence of k in n; an outer one with "perhaps" until far from what says nothing."""
    share = (k + 1) / (n + 2)
    place = _place(share, low, high)
    idle = most if place == 2 else 0.5
    if place == 1 or (share - idle) ** 2 * (n + 2) >= 1.96**2 * idle * (1 - idle):
        return said[place]
    return f"Perhaps {said[place][0].lower()}{said[place][1:]}"


def _place(value: float, low: float, high: float) -> int:
    return 0 if value < low else 2 if value > high else 1
