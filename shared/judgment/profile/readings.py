"""The twelve signals as numbers: what has been counted → what is stored, by signal.

Each function gives a signal's formula and where it comes from. `n` is always the number of
decisions that the numbers rest on; a signal without any is None. Shares are shrunk towards the
middle, k of n to (k + 1) / (n + 2), which is Laplace's rule of succession: the mean of a binomial
share under the prior Beta(1, 1). Shares over K classes have 1 added to each, the prior
Dirichlet(1). Retests count in `occasion_noise` and in what holds, and nowhere else.

No number is rounded: a summary is renewed when one moves by 0.05, and rounding must not hide it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from judgment.profile.language import STYLES

if TYPE_CHECKING:
    from judgment.profile.accumulation import Judged, OwnerPart

PSEUDO_DECISIONS = 4
Document = dict[str, Any]


def signal_documents(owner: OwnerPart) -> dict[str, Document]:
    """The document of each signal that has evidence, by name."""
    found = {
        "reasoning_style_distribution": reasoning_style(owner.styles),
        "attention_distribution": attention(
            owner.attention, owner.counted("attention_distribution")
        ),
        "confidence_calibration": calibration([d.judged for d in owner.finished.values()]),
        "timing_signature": timing(owner.latest_times, owner.counted("timing_signature")["n"]),
        "persuadability": persuadability(owner.counted("persuadability")),
        "peer_reading": peer_reading(owner.counted("peer_reading")),
        "dissent_profile": dissent(owner.counted("dissent_profile")),
        "authenticity": authenticity(owner.counted("authenticity")),
        "learning_rate": learning(owner.counted("learning_rate"), owner.counted("good_outcomes")),
        "occasion_noise": occasion_noise(owner.counted("occasion_noise")),
        "self_awareness": self_awareness(owner.counted("self_awareness")),
        "name_bias_signal": name_bias(
            owner.counted("name_bias_signal"), owner.counted("occasion_noise")
        ),
    }
    return {name: document for name, document in found.items() if document is not None}


def reasoning_style(styles: Mapping[str, int]) -> Document | None:
    """Share of each style among the rationales in which `language` finds one.

    (rationales of the style + 1) / (n + number of styles). A word-count method, as in Pennebaker,
    Francis & Booth's LIWC (2001), with lists of our own; rationales that no list recognises are
    not in n.
    """
    n = sum(styles.values())
    if not n:
        return None
    whole = n + len(STYLES)
    shares = {style: (styles.get(style, 0) + 1) / whole for style in STYLES}
    return {"n": n, "leading_count": max(styles.values()), "shares": shares}


def attention(drivers: Mapping[str, float], counted: Mapping[str, int]) -> Document | None:
    """Share of each driver in what the rationales speak of.

    A rationale that speaks of m drivers on offer gives 1/m to each: (sum + 1) / (n + K), over the
    rationales that speak of one at least and the K drivers (at most 32) that were on offer in
    these. Which of the attributes on offer are attended to is the question of Payne, Bettman &
    Johnson (The Adaptive Decision Maker, 1993); here it is read off words, not off eyes.
    """
    n = counted["n"]
    if not n:
        return None
    whole = n + len(drivers)
    shares = {name: (drivers[name] + 1) / whole for name in sorted(drivers)}
    return {"n": n, "leading_part": max(drivers.values()) / n, "shares": shares}


def calibration(judged: Iterable[Judged]) -> Document | None:
    """Mean stated confidence less the share that holds: over- and underconfidence.

    After Lichtenstein & Fischhoff (1977), with steadiness in the place of truth, which choices of
    taste do not have: a decision holds when its last retest came out as the time before, or, not
    asked again, when the owner's other decisions point to it (`weighing`). Over the latest 240
    decisions of each domain. gap = (mean confidence - share that holds) · n / (n + 4);
    overconfidence = (gap + 1) / 2.
    """
    known = list(judged)
    n, held = sum(j.n for j in known), sum(j.held for j in known)
    if not n:
        return None
    mean = sum(j.confidence for j in known) / n
    gap = (mean - held / n) * n / (n + PSEUDO_DECISIONS)
    return {
        "n": n,
        "mean_confidence": mean,
        "held_count": held,
        "held": held / n,
        "overconfidence": (gap + 1) / 2,
    }


def timing(latest: Iterable[tuple[int, float]], n: int) -> Document | None:
    """Medians of the latest 240 timed first decisions: seconds, and pace over reading time.

    pace = response time / time to read title and options at 238 words a minute (Brysbaert 2019);
    deliberation = pace / (pace + 2), shrunk to 0.5 by 4 imagined decisions. Medians, because
    response times are skewed to the right (Luce, Response Times, 1986).
    """
    times = list(latest)
    if not times:
        return None
    middle = median(pace for _, pace in times)
    deliberation = middle / (middle + 2)
    return {
        "n": n,
        "seconds": median(ms for ms, _ in times) / 1000,
        "pace": middle,
        "deliberation": (deliberation * n + 0.5 * PSEUDO_DECISIONS) / (n + PSEUDO_DECISIONS),
    }


def persuadability(counted: Mapping[str, int]) -> Document | None:
    """Share of first choices given up after the counter-argument to them was shown.

    moved = (changed + 1) / (n + 2), over rounds that had one for that first choice. Revising a
    first answer after advice, as in the judge-advisor studies (Sniezek & Buckley 1995).
    """
    return _share(counted, "changed", "moved")


def peer_reading(counted: Mapping[str, int]) -> Document | None:
    """Share of predictions that name the option which most of the story's people favour.

    accuracy = (right + 1) / (n + 2). Asking for a prediction of others' answers beside one's own
    is Prelec's (2004).
    """
    return _share(counted, "right", "accuracy")


def dissent(counted: Mapping[str, int]) -> Document | None:
    """Share of rounds with a stated majority in which another option was taken.

    dissented = (against + 1) / (n + 2); none of the above is against. Asch (1956) on independence
    and conformity beside a unanimous majority.
    """
    return _share(counted, "against", "dissented")


def authenticity(counted: Mapping[str, int]) -> Document | None:
    """Share of rationales that name something of which the option taken offers most of all.

    matched = (matches + 1) / (n + 2), over rationales in which `language` hears one driver on which
    the options differ, or half of them at most, where the option taken offers any driver; one that
    fits is enough, which whoever names them all would always have. That
    reasons given may part from what moved the choice: Nisbett & Wilson (1977).
    """
    return _share(counted, "matches", "matched")


def learning(bad: Mapping[str, int], good: Mapping[str, int]) -> Document | None:
    """Share of bad outcomes after which the sequel's choice follows another approach.

    adjusted = (changed + 1) / (n + 2): lose-shift, over bad outcomes alone (Worthy, Hawthorne &
    Otto 2013 model it as win-stay lose-shift). Beside it, for comparison, after good outcomes:
    `good_n`, `good_kept`, `good_changed`.
    """
    document = _share(bad, "changed", "adjusted")
    if document is None:
        return None
    changed = good.get("changed", 0)
    return {
        **document,
        "good_n": good["n"],
        "good_kept": good["n"] - changed,
        "good_changed": changed,
    }


def occasion_noise(counted: Mapping[str, int]) -> Document | None:
    """Share of repeated decisions that came out differently from the time before.

    noise = (n - same + 1) / (n + 2). Occasion noise: Kahneman, Sibony & Sunstein, Noise (2021).
    A repeat is a retest, or the same options offered again; twins of a pair and sequels are none.
    """
    n = counted["n"]
    if not n:
        return None
    return {"n": n, "same": counted["same"], "noise": _shrunk(n - counted["same"], n)}


def self_awareness(counted: Mapping[str, int]) -> Document | None:
    """Share of self-predictions that name the option then taken.

    accuracy = (right + 1) / (n + 2). Predicting one's own choice: Epley & Dunning (2000).
    """
    return _share(counted, "right", "accuracy")


def name_bias(counted: Mapping[str, int], repeated: Mapping[str, int]) -> Document | None:
    """Share of matched pairs answered differently, less what differs on any two occasions.

    bias = max(0, (differed + 1) / (n + 2) - noise), noise as in `occasion_noise`, which is one half
    before the first repeat: as long as it is not known how much an owner varies, no difference is
    laid to a name. `expected` is how many pairs differ by noise alone. Pairs that differ in a name
    alone are the audit method of Bertrand & Mullainathan (2004).
    """
    n = counted["n"]
    if not n:
        return None
    noise = _shrunk(repeated["n"] - repeated.get("same", 0), repeated["n"])
    differed = counted["differed"]
    bias = max(0.0, _shrunk(differed, n) - noise)
    return {"n": n, "differed": differed, "expected": noise * n, "bias": bias}


def _share(counted: Mapping[str, int], hits: str, component: str) -> Document | None:
    n = counted["n"]
    return {"n": n, hits: counted[hits], component: _shrunk(counted[hits], n)} if n else None


def _shrunk(hits: int, n: int) -> float:
    return (hits + 1) / (n + 2)
