"""The check on real people's profiles: their own sentences pass, inventions among them do not."""

from __future__ import annotations

import random

import pytest

from judgment.profile.build import build
from judgment.profile.composer import compose
from judgment.summary.facts import facts_of
from judgment.summary.model import Sentence
from judgment.summary.verify import faults
from tests.unit.profile.real_people import real_people
from tests.unit.summary.test_verify import insertions, invented

pytestmark = pytest.mark.promise("P2-5-verify")


def test_real_peoples_sentences_pass_and_inventions_among_them_are_caught() -> None:
    caught = 0
    for number, person in enumerate(real_people()[::60]):
        dice, profile = random.Random(number), build(person.decisions)
        facts = facts_of(profile, compose(profile).observations)
        for fact in facts.by_id.values():
            assert faults(Sentence(text=fact.text, facts=[fact.id]), facts) == [], fact.text
        for fact in dice.sample(list(facts.by_id.values()), 2):
            for what, code in invented(fact, dice):
                for text in insertions(fact.text, what, dice):
                    found = faults(Sentence(text=text[:400], facts=[fact.id]), facts)
                    assert code in found, text
                    caught += 1
    assert caught > 1_500
