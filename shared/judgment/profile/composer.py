"""composer-1: the summary and the context block, written by rules from the observations.

Deterministic and bounded, so that an owner with decisions is never served as untrained, provider
or no provider (issue part 1, deliverable 4; rulings 5 and 37). Every sentence about the owner is
made by `observe`; the rest is the frame. Texts that came from elsewhere (context rules
of an older app) are one-line quoted data by the time they get here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgment.contract.profile import CATEGORIES, CONTEXT_BLOCK_LIMIT, SUMMARY_LIMIT
from judgment.profile.observe import observe
from judgment.profile.scores import model_confidence
from judgment.profile.signals import SIGNALS

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.profile.observations import Observation

VERSION = "composer-1"
LEFT_OUT_ROOM = 80
SUMMARY_LINES = 6
IN_WORDS = {"values-culture": "values and culture", "self_awareness": "self-awareness"}
FRAME = (
    "These are tendencies seen in past choices, not instructions, and none binds the owner: what "
    "they say now comes first. Say so when you use one of them."
)


@dataclass(frozen=True)
class Composition:
    """Both texts, and the observations they are made of."""

    summary_text: str
    agent_context_block: str
    observations: tuple[Observation, ...]


def compose(profile: PlayerDecisionProfile) -> Composition:
    """Write both texts; the block is at most 9,000 characters and 9,000 bytes of whole lines."""
    observations = tuple(observe(profile))
    return Composition(_summary(profile, observations), _block(profile, observations), observations)


def _summary(profile: PlayerDecisionProfile, observations: tuple[Observation, ...]) -> str:
    sentences = [f"Drawn from {_decisions(profile.games_analyzed)}."]
    said, left_out = 0, False
    for pattern in profile.patterns:
        about = f"category:{pattern.category}:"
        lines = [o.text for o in observations if o.about.startswith(about)][:SUMMARY_LINES]
        sentences.append(f"In {_words(pattern.category)} ({_decisions(pattern.decisions)}):")
        sentences += lines or ["too few decisions to tell what weighs."]
        said += len(lines)
    signals = [o.text for o in observations if o.about.startswith("signal:")]
    sentences += signals
    if not said and not signals:
        sentences.append("Nothing can be told from chance yet.")
    sentences.append(_unknown(profile))
    while len(" ".join(sentences)) > SUMMARY_LIMIT - LEFT_OUT_ROOM:
        sentences.pop(-2)
        left_out = True
    return " ".join([*sentences, "More is on record than fits here."] if left_out else sentences)


def _block(profile: PlayerDecisionProfile, observations: tuple[Observation, ...]) -> str:
    head = [
        f"Judgment profile of the owner ({VERSION}), from {_decisions(profile.games_analyzed)}.",
        f"Model confidence {model_confidence(profile):.2f} of 1. {FRAME}",
    ]
    body: list[str] = []
    for pattern in profile.patterns:
        about = f"category:{pattern.category}:"
        lines = [f"- {o.text}" for o in observations if o.about.startswith(about)]
        body.append(f"{_words(pattern.category).capitalize()}, {_decisions(pattern.decisions)}:")
        body += lines or ["- Too few decisions to tell what weighs."]
    signals = [f"- {o.text}" for o in observations if o.about.startswith("signal:")]
    body += ["Manner of deciding:", *signals] if signals else []
    rules = [f"- {o.text}" for o in observations if o.about.startswith("rule:")]
    body += ["Shifts that an earlier app stored (quoted data):", *rules] if rules else []
    return _fit([*head, *body], _unknown(profile))


def _fit(lines: list[str], last: str) -> str:
    """The lines in order while they fit, then what is unknown and what was left out."""
    room = CONTEXT_BLOCK_LIMIT - LEFT_OUT_ROOM - len(last.encode())
    kept: list[str] = []
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    missing = len(lines) - len(kept)
    ending = f"Left out for length: {missing} further lines." if missing else "Left out: nothing."
    return "\n".join([*kept, last, ending])


def _unknown(profile: PlayerDecisionProfile) -> str:
    decided = {pattern.category for pattern in profile.patterns}
    domains = [_words(c) for c in CATEGORIES if c not in decided]
    sparse = [s.name for s in SIGNALS if profile.signal(s.name).state == "sparse"]
    parts = [f"domains without a decision: {', '.join(domains)}"] if domains else []
    if sparse:
        parts.append(f"signals without enough evidence: {', '.join(map(_words, sparse))}")
    return f"Not known: {'; '.join(parts)}." if parts else "No domain or signal is unknown."


def _words(name: str) -> str:
    return IN_WORDS.get(name) or name.replace("-", " ").replace("_", " ")


def _decisions(count: int) -> str:
    return f"{count} recorded decision" + ("" if count == 1 else "s")
