"""A good scenario, as a document and read, and any JSON value at all."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from judgment.scenarios.library.entries import read_entry

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario

_DOCUMENT: dict[str, Any] = {
    "key": "frontier/resource-allocation/0",
    "theme": "frontier",
    "category": "resource-allocation",
    "title": "Seed or flour",
    "description": "The valley has one wagon of grain left, and six weeks until the road opens.",
    "constraints": ["Nothing can be bought before the road opens.", "You decide by tonight."],
    "options": [
        {
            "id": "a",
            "label": "Mill all of it",
            "description": "Everybody eats well until the road opens.",
            "drivers": {"care": 0.9, "long_term": 0.1, "fairness": 0.6},
            "risk": 0.6,
            "approach": "spend",
        },
        {
            "id": "b",
            "label": "Keep all of it for sowing",
            "description": "The fields are full in autumn, and the weeks are hungry.",
            "drivers": {"care": 0.1, "long_term": 0.9, "fairness": 0.5},
            "risk": 0.7,
            "approach": "save",
        },
        {
            "id": "c",
            "label": "Draw lots for half",
            "description": "Half is milled and goes to whom the lot names.",
            "drivers": {"care": 0.4, "long_term": 0.5, "fairness": 0.9},
            "risk": 0.4,
            "approach": "share",
        },
        {"id": "none", "label": "None of these", "description": "You would do something else."},
    ],
    "stimuli": {
        "premise": "You keep the stores of a valley whose road is closed. The grain runs low.",
        "majority_option_id": "a",
        "majority_text": "Most of the valley would rather eat now.",
        "counter_arguments": {
            "a": "In autumn there is nothing to reap.",
            "b": "The old may not last six weeks.",
            "c": "A lot feeds whom it names, and not who needs it.",
        },
        "outcomes": {
            "a": {"text": "The road opened late, and nothing was sown.", "good": False},
            "b": {"text": "Two families left before the road opened.", "good": False},
            "c": {"text": "The lots were bought and sold.", "good": False},
            "none": {"text": "The meeting went on until the grain was wet.", "good": False},
        },
    },
}


def document() -> dict[str, Any]:
    """A good document with every kind of stimulus, the caller's to change."""
    return copy.deepcopy(_DOCUMENT)


def scenario() -> Scenario:
    """The good scenario."""
    found = read_entry(document())
    assert found.scenario is not None
    assert not found.complaints
    return found.scenario


def any_json(most: int = 12) -> st.SearchStrategy[Any]:
    """Any value that JSON can hold, also text with lone surrogates, and numbers that it cannot."""
    texts = st.text(st.characters(), max_size=12)
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=most,
    )
