"""What an owner's own words show, by word lists (`lexicon`) and no model.

Names leave this module, never text: whatever a rationale says, it can name a style, a driver or
nothing. The method is a count that anyone can redo by hand:

1. Text in double quotes is somebody else's and is left out. The rest is cut into words and clauses.
2. A cue is a word or phrase of the lists, in base form or with a plain ending; of overlapping cues
   the longest is heard. A word weighs 1, a phrase 2, each once however often it stands there.
3. A style's cue after a "not" in its clause is dropped, unless the list says that it argues either
   way. A driver's cue stays: who writes "not fair" speaks of fairness. Cues that are waved away
   ("never mind the cost", "speed does not matter") are dropped for both.
4. The style with most weight is the rationale's; on a tie, or without a cue, there is none.

English only. Another language matches nothing, and a text in which the common words of another
language prevail is not read at all, so that a shared word is never a guess. Time is linear in
the text, of which the first 4,000 characters are read. How well it does: docs/profile.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from judgment.profile import lexicon

STYLE_WORDS = {
    "principled": "principle",
    "consequence": "consequences",
    "people": "concern for people",
    "evidence": "evidence",
    "precedent": "precedent",
    "intuition": "intuition",
}
"""Each style as a sentence names it: "argues from …"."""
STYLES: tuple[str, ...] = tuple(STYLE_WORDS)
"""The styles of reasoning that `style_of` can name."""

LENGTH_READ = 4_000
REACH = 3
"""How many words a "not" or a waving away reaches."""
PHRASE_WEIGHT = 2
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[.,;:!?()\u2026\u2013\u2014\n]")
_CLOSING = {'"': '"', "“": "”", "„": "“", "«": "»"}
_QUOTE = re.compile("[" + "".join(_CLOSING) + "]")
_NOTHING = "nothing"


class _Cue(NamedTuple):
    """An entry of the lists. `either` says whether it counts after a "not"."""

    words: tuple[str, ...]
    means: str
    either: bool


@dataclass
class _Node:
    """The cues that begin with the words on the way here."""

    after: dict[str, _Node] = field(default_factory=dict[str, "_Node"])
    cue: _Cue | None = None


class _Hit(NamedTuple):
    cue: _Cue
    start: int
    end: int


class _Text(NamedTuple):
    """Words of a text in lower case, and the number of the clause of each."""

    words: list[str]
    clauses: list[int]


def style_of(rationale: str) -> str | None:
    """The style whose cues weigh most, or None where none matches or two weigh the same."""
    text = _read(rationale)
    if text is None:
        return None
    waved, negators = _Waved(text), _listed(lexicon.NEGATORS)
    weights: dict[str, int] = {}
    for cue in {
        hit.cue
        for hit in _hits(text, _style_cues())
        if not waved(hit) and (hit.cue.either or not _negated(text, hit, negators))
    }:
        weight = 1 if len(cue.words) == 1 else PHRASE_WEIGHT
        weights[cue.means] = weights.get(cue.means, 0) + weight
    most = max(weights.values(), default=0)
    leading = [style for style, weight in weights.items() if weight == most]
    return leading[0] if len(leading) == 1 else None


def drivers_in(rationale: str, names: Iterable[str]) -> frozenset[str]:
    """Those of the named drivers that the rationale speaks of, on either side of them.

    Names without a word list are never found.
    """
    known = [name for name in set(names) if name in lexicon.DRIVER_CUES]
    text = _read(rationale) if known else None
    if text is None:
        return frozenset()
    waved = _Waved(text)
    return frozenset(
        name for name in known if any(not waved(hit) for hit in _hits(text, _driver_cues(name)))
    )


def _read(rationale: str) -> _Text | None:
    """The words to listen to, or None where there are none or they are not English."""
    plain = _unquoted(rationale[:LENGTH_READ]).replace("\u2019", "'").lower()
    text = _Text([], [])
    clause = 0
    for token in _WORD.findall(plain):
        if not token[0].isalnum():
            clause += 1
            continue
        for word in _apart(token):
            text.words.append(word)
            text.clauses.append(clause)
    ours, theirs = _listed(lexicon.OURS), _listed(lexicon.THEIRS)
    balance = sum((word in ours) - (word in theirs) for word in text.words)
    return text if text.words and balance >= 0 else None


def _unquoted(text: str) -> str:
    """The text without what stands in double quotes; a quote that never closes is not one."""
    kept: list[str] = []
    at = 0
    unclosed: set[str] = set()
    for opening in _QUOTE.finditer(text):
        closing = _CLOSING[opening[0]]
        if opening.start() < at or closing in unclosed:
            continue
        end = text.find(closing, opening.end())
        if end < 0:
            unclosed.add(closing)
            continue
        kept += [text[at : opening.start()], "\n"]
        at = end + 1
    return "".join([*kept, text[at:]])


def _apart(found: str) -> tuple[str, ...]:
    """The words in it: "isn't" is "is not", "cannot" is "can not", "she's" is "she"."""
    if found.endswith("n't"):
        return ({"ca": "can", "wo": "will"}.get(found[:-3], found[:-3]), "not")
    if found == "cannot":
        return ("can", "not")
    return (found.split("'", 1)[0],)


def _forms(word: str) -> Iterator[str]:
    """The word, then what it may be an inflection of."""
    yield word
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        yield word[:-1]
        if word.endswith("es"):
            yield word[:-2]
        if word.endswith("ies"):
            yield word[:-3] + "y"
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if len(stem) < 3 or stem == word:
            continue
        yield stem
        yield stem + "e"
        if stem.endswith("i"):
            yield stem[:-1] + "y"
        if stem[-1] == stem[-2]:
            yield stem[:-1]


def _hits(text: _Text, cues: _Node) -> Iterator[_Hit]:
    """The cues in the text from left to right, the longest at each place; none overlap."""
    start = 0
    while start < len(text.words):
        hit = _longest(text, cues, start)
        if hit and hit.cue.means != _NOTHING:
            yield hit
        start = hit.end if hit else start + 1


def _longest(text: _Text, cues: _Node, start: int) -> _Hit | None:
    found: _Hit | None = None
    node, at = cues, start
    while at < len(text.words) and text.clauses[at] == text.clauses[start]:
        step = next((node.after[f] for f in _forms(text.words[at]) if f in node.after), None)
        if step is None:
            break
        node, at = step, at + 1
        if node.cue:
            found = _Hit(node.cue, start, at)
    return found


def _negated(text: _Text, hit: _Hit, negators: frozenset[str]) -> bool:
    return any(
        text.words[i] in negators and text.clauses[i] == text.clauses[hit.start]
        for i in range(max(hit.start - REACH, 0), hit.start)
    )


class _Waved:
    """Which places of a text are waved away by what stands before or after them."""

    def __init__(self, text: _Text) -> None:
        self.places: set[int] = set()
        clauses = text.clauses
        for hit in _hits(text, _before()):
            reach = range(hit.end, min(hit.end + REACH, len(clauses)))
            self.places |= {i for i in reach if clauses[i] == clauses[hit.start]}
        for hit in _hits(text, _after()):
            reach = range(max(hit.start - REACH, 0), hit.start)
            self.places |= {i for i in reach if clauses[i] == clauses[hit.start]}

    def __call__(self, hit: _Hit) -> bool:
        return hit.start in self.places


@cache
def _style_cues() -> _Node:
    return _grown({**lexicon.STYLE_CUES, _NOTHING: lexicon.NOTHING})


@cache
def _driver_cues(name: str) -> _Node:
    return _grown({_NOTHING: lexicon.NOTHING, name: lexicon.DRIVER_CUES[name]})


@cache
def _before() -> _Node:
    return _grown({"before": lexicon.WAVED_AWAY_BEFORE})


@cache
def _after() -> _Node:
    return _grown({"after": lexicon.WAVED_AWAY_AFTER})


@cache
def _listed(entries: str) -> frozenset[str]:
    return frozenset(entry.strip() for entry in entries.split(","))


def _grown(lists: dict[str, str]) -> _Node:
    """The lists as one tree of words; a later list's entry replaces an equal earlier one."""
    root = _Node()
    for means, entries in lists.items():
        for entry in _listed(entries):
            words = tuple(re.split(r"[\s-]+", entry.removesuffix("!")))
            node = root
            for word in words:
                node = node.after.setdefault(word, _Node())
            node.cue = _Cue(words, means, entry.endswith("!"))
    return root
