"""What is asked of a made round's words beyond the rules that the library is held to.

It carries no sentence over from the owner's text: an answered round outlives the text that it was
made from (ruling 4), so that it may borrow a world and not words. It recites none of our
instructions and does not speak of its own making. And it is in English, the one language whose
texts the content guardrails can read (ADR 084).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgment.scenarios.rules import Complaint

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario

RUN = 12
"""Words in a row (in Chinese, Japanese and Korean: characters) from which it is a copy."""
ENGLISH_LEAST = 0.15
"""Share of the words below. English prose has about a third, its nearest neighbours under 5 %."""

_ENGLISH = frozenset(
    (
        *("the", "of", "and", "to", "you", "your", "with", "that", "is", "are", "for", "has"),
        *("have", "it", "as", "by", "from", "their", "they", "this", "would", "be", "not", "who"),
        *("what", "she", "he", "his", "her", "them", "but", "on", "at", "an", "or", "which"),
        *("more", "than", "before", "after"),
    )
)
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_TASK = re.compile(r"\b(?:json|personal context|user message|these instructions)\b")


def complaints(scenario: Scenario, context: str, instructions: str) -> tuple[Complaint, ...]:
    """What is wrong with the words of a made round, in a fixed order; none for a good one."""
    texts = [_plain(text) for text in _texts(scenario)]
    spoken = {run for text in texts for run in _runs(text)}
    found: list[Complaint] = []
    if not spoken.isdisjoint(_runs(_plain(context))):
        found.append(Complaint("copied_notes", "Use words of your own, no sentence of the notes."))
    if not spoken.isdisjoint(_runs(_plain(instructions))):
        found.append(Complaint("copied_task", "Tell a story, and nothing of the instructions."))
    if any(_TASK.search(text) for text in texts):
        found.append(Complaint("speaks_of_task", "Speak of the story alone, not of its making."))
    if not _is_english(_plain(scenario.description), texts):
        found.append(Complaint("language", "Write in English."))
    return tuple(found)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _runs(plain: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(plain)
    return (tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))


def _is_english(description: str, texts: list[str]) -> bool:
    """Latin letters everywhere, and English words in the description and in all of it."""
    letters = {character for text in texts for character in text if character.isalpha()}
    return (
        all("LATIN" in unicodedata.name(letter, "") for letter in letters)
        and _english_share(_WORD.findall(description)) >= ENGLISH_LEAST
        and _english_share([word for text in texts for word in _WORD.findall(text)])
        >= ENGLISH_LEAST
    )


def _english_share(words: list[str]) -> float:
    return sum(word in _ENGLISH for word in words) / max(len(words), 1)


def _texts(scenario: Scenario) -> Iterator[str]:
    stimuli = scenario.stimuli
    yield scenario.title
    yield scenario.description
    yield from scenario.constraints
    for option in scenario.options:
        yield f"{option.label} {option.description}"
    yield stimuli.premise or ""
    yield stimuli.majority_text or ""
    yield from stimuli.counter_arguments.values()
