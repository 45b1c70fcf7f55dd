"""What a model is told: our words, and the owner's as data."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.contract.profile import CATEGORIES
from judgment.profile.drivers import DRIVERS
from judgment.scenarios.personal.domain import SERVED, Target
from judgment.scenarios.personal.prompt import HEAD, LEFT_OUT, TAIL, as_data, cut, prompt

pytestmark = pytest.mark.promise("000-8.2", "000-8.6", "P2-7-hostile")

TARGET = Target("governance", "persuadability", "counter_arguments")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(TEXT)
def test_the_owners_text_is_one_json_string_that_reads_back(text: str):
    assert json.loads(as_data(text)) == text


@given(TEXT)
def test_nothing_in_it_can_end_the_string_or_pass_for_markup_or_a_turn(text: str):
    data = as_data(text)
    assert (data[0], data[-1]) == ('"', '"')
    inner = re.sub(r"\\.", "", data[1:-1])
    assert not set(inner) & set('"<>[]{}|`\n\r')
    unseen = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
    assert not {unicodedata.category(character) for character in data} & unseen


@pytest.mark.parametrize("length", [HEAD + TAIL, HEAD + TAIL + 1, 65_536])
def test_a_long_text_keeps_its_head_and_its_tail(length: int):
    text = "".join(chr(0x4E00 + n % 5_000) for n in range(length))
    kept = cut(text)
    if length <= HEAD + TAIL:
        assert kept == text
    else:
        assert kept == text[:HEAD] + LEFT_OUT + text[-TAIL:]


@given(TEXT)
def test_our_instructions_hold_nothing_of_the_owners(text: str):
    system, user = prompt(TARGET, text)
    assert (system.speaker, user.speaker) == ("system", "user")
    assert system == prompt(TARGET, "")[0]
    assert user.text == as_data(text)


def test_the_instructions_name_the_domain_the_drivers_and_the_stimulus():
    told = {
        (category, row.stimulus): prompt(Target(category, row.signal, row.stimulus), "")[0].text
        for category in CATEGORIES
        for row in SERVED
    }
    assert len(set(told.values())) == 16
    for (_, stimulus), text in told.items():
        assert "trade-off" in text
        assert f"- thrift: {DRIVERS['thrift'].more}" in text
        for word in ("premise:", "majority_option", "counter_arguments:"):
            assert (word in text) == (stimulus is not None and word.startswith(stimulus))
