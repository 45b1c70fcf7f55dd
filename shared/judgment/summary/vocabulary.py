"""The catalogue's names, as a sentence may spell them, and where one occurs.

Drivers in both directions, domains, signals, themes, styles of reasoning and levels: a sentence
that says one of them makes a claim about the owner, so it must have it from a cited fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import get_args

from judgment.contract.profile import CATEGORIES, Level, Speed, Theme
from judgment.profile.composer import IN_WORDS
from judgment.profile.drivers import DRIVERS
from judgment.profile.language import STYLE_WORDS
from judgment.profile.signals import SIGNALS

_WORD = re.compile(r"[a-z0-9]+")
_ARTICLE = re.compile(r"^(?:a|an|the) ")
_SIGNAL_ENDING = re.compile(r"_(?:distribution|signature|profile|signal)$")

Phrase = tuple[str, ...]


_ENDINGS = ("ing", "ed", "es", "s", "ly")
_ROOT_LEAST = 3


def root_of(word: str) -> str:
    """The word without one ending of English inflection: decides, decided and deciding are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _ROOT_LEAST:
            word = word.removesuffix(ending)
            break
    return word.rstrip("e")


def words_of(text: str) -> Phrase:
    """The words in lower case; underscores, hyphens and other marks part them."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


@cache
def phrases() -> frozenset[Phrase]:
    """Every name in words."""
    return frozenset(words_of(_ARTICLE.sub("", name)) for name in _names())


def named(text: str) -> frozenset[Phrase]:
    """The catalogue's names that the text says, in any case, plural, hyphenated or run together."""
    words = words_of(text)
    found: set[Phrase] = set()
    for length in _lengths():
        for start in range(len(words) - length + 1):
            said = words[start : start + length]
            found |= {p for p in (said, _singular(said)) if p in phrases()}
    together = _run_together()
    return frozenset(found | {together[word] for word in words if word in together})


@cache
def _lengths() -> frozenset[int]:
    return frozenset(len(phrase) for phrase in phrases())


@cache
def _run_together() -> dict[str, Phrase]:
    return {"".join(phrase): phrase for phrase in phrases() if len(phrase) > 1}


def _names() -> Iterator[str]:
    for row in DRIVERS.values():
        yield from (row.name, row.less_name, row.more, row.less)
    for signal in SIGNALS:
        yield from (signal.name, _SIGNAL_ENDING.sub("", signal.name))
    for style, words in STYLE_WORDS.items():
        yield from (style, words)
    yield from (*CATEGORIES, *IN_WORDS.values())
    yield from (*get_args(Theme), *get_args(Level), *get_args(Speed))


def _singular(said: Phrase) -> Phrase:
    return (*said[:-1], said[-1].removesuffix("s"))
