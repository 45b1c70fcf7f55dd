"""The two texts around a model's sentences: our frame, our headings, and what it left unsaid.

A sentence stands under the heading of the domain that its first cited fact is about, where that
fact stands by weight. What the block's sentences do not cite is said in composer-1's words, so
that a model's silence loses nothing; the length is fitted as for composer-1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judgment.profile.composer import Composition, block_of, summary_of
from judgment.profile.observations import Observation

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.summary.facts import Facts
    from judgment.summary.model import Sentence, Written

WORDING = "worded by a model, checked against the facts"


def worded(
    profile: PlayerDecisionProfile,
    observations: Sequence[Observation],
    facts: Facts,
    written: Written,
) -> Composition:
    """Both texts, with the sentences of an answer that `verify` has accepted."""
    in_summary = _said(observations, facts, written.summary, whole_scopes=True)
    in_block = _said(observations, facts, written.block, whole_scopes=False)
    return Composition(
        summary_of(profile, in_summary), block_of(profile, in_block, WORDING), in_block
    )


def _said(
    observations: Sequence[Observation],
    facts: Facts,
    sentences: Sequence[Sentence],
    *,
    whole_scopes: bool,
) -> tuple[Observation, ...]:
    """The observations in their order, sentences in the places of what they cite.

    With `whole_scopes` a domain that has a sentence needs no other words.
    """
    cited = {i for sentence in sentences for i in sentence.facts}
    scopes = {fact.scope for fact in facts.cited(sorted(cited))}
    own = {(fact.about, fact.text): fact for fact in facts.by_id.values()}
    found: list[Observation] = []
    for observation in observations:
        fact = own.get((observation.about, observation.text))
        if fact is None:
            found.append(observation)
            continue
        found += [_observed(s, fact.about) for s in sentences if s.facts[0] == fact.id]
        if fact.id not in cited and not (whole_scopes and fact.scope in scopes):
            found.append(observation)
    return tuple(found)


def _observed(sentence: Sentence, about: str) -> Observation:
    numbers: Mapping[str, str] = {"sentence": sentence.text.strip()}
    return Observation(about, "{sentence}", numbers)
