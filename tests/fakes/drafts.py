"""A draft as a good model fills it in, to be spoiled."""

from __future__ import annotations

import copy
from typing import Any

GOOD: dict[str, Any] = {
    "title": "The oven and the apprentice",
    "description": (
        "You run a small bakery, and the old oven will not last the winter. The bank would lend"
        " enough for a new one, or you could pay for the apprentice you promised to train, and"
        " patch the oven once more before the holidays."
    ),
    "constraints": [
        "There is money for one of the two this year.",
        "The apprentice needs an answer by Friday.",
    ],
    "options": [
        {
            "label": "Buy the new oven",
            "description": "You secure the bread for years and tell the apprentice to wait.",
            "offers": [
                {"driver": "stability", "amount": 0.9},
                {"driver": "growth", "amount": 0.4},
            ],
            "risk": 0.3,
        },
        {
            "label": "Take on the apprentice",
            "description": "You keep your word and hope that the oven holds one more winter.",
            "offers": [
                {"driver": "loyalty", "amount": 0.9},
                {"driver": "care", "amount": 0.7},
            ],
            "risk": 0.6,
        },
        {
            "label": "Ask the crew to decide",
            "description": "You open the books and let the people at the tables vote on it.",
            "offers": [
                {"driver": "transparency", "amount": 0.8},
                {"driver": "autonomy", "amount": 0.8},
            ],
            "risk": 0.5,
        },
    ],
}
EXTRAS: dict[str, dict[str, Any]] = {
    "Draft": {},
    "DraftWithPremise": {
        "premise": "A promise to a person and the tool that feeds everybody stand against each"
        " other."
    },
    "DraftWithMajority": {
        "majority_option": 2,
        "majority_text": "Most of the people at the tables want the apprentice to start.",
    },
    "DraftWithCounterArguments": {
        "counter_arguments": [
            "Your oldest baker says that a promise which waits is a promise broken.",
            "Your accountant says that a cold oven feeds nobody, apprentices included.",
            "Your partner says that a vote hands the hard part of the job to others.",
        ]
    },
}


def good(shape: str = "Draft", **changes: Any) -> dict[str, Any]:
    """A fresh good draft of that shape, with changes."""
    return copy.deepcopy({**GOOD, **EXTRAS[shape], **changes})


def with_option(number: int, shape: str = "Draft", **changes: Any) -> dict[str, Any]:
    """A good draft with one option changed."""
    draft = good(shape)
    draft["options"][number].update(changes)
    return draft
