"""Whether a model's sentences say nothing that their cited facts do not say.

Each sentence is held against the facts it cites, and only those: every number, quotation and
catalogue name in it must stand there, and so must every other word but those that only join. It
may not order, address or deny anybody, or carry anything but plain English in ASCII and typographic
quotes and dashes. In doubt a sentence is refused, because composer-1 can always say it instead.
A sentence with a number cites one fact, so that no number of one fact can be said of another.
What code does not see: two numbers, or two names, of the same fact exchanged with one another.
Our own sentences pass when they cite themselves (a property in the tests).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from judgment.contract.profile import SUMMARY_LIMIT
from judgment.profile.signals import SIGNALS
from judgment.summary.numerals import Numeral, equal_forms, numerals, plain_text
from judgment.summary.vocabulary import named, root_of, words_of
from judgment.summary.wordlists import (
    ADDRESSING,
    BARE_VERBS,
    CLAIMING,
    DENYING,
    JOINING,
    PERHAPS,
    SAYING_NO,
)

if TYPE_CHECKING:
    from judgment.summary.facts import Fact, Facts
    from judgment.summary.model import Sentence, Written

SENTENCE_LIMIT = 400
WORDS_LEAST = 3
FACTS_PER_SENTENCE = 4
SENTENCES_IN_SUMMARY = 12
SENTENCES_IN_BLOCK = 40

CODES = {
    "nothing_said": "neither list may be empty",
    "too_many": "more sentences, or more text, than allowed",
    "too_long": "a sentence is too long, or shorter than three words",
    "uncited": "a sentence cites no fact",
    "unknown_fact": "a sentence cites an id that is not among the facts",
    "too_many_facts": "a sentence cites more facts than allowed",
    "mixed_domains": "the cited facts are about more than one domain, or a domain and a signal, or"
    " one of them could not be told from chance",
    "mixed_numbers": "a sentence with a number or number word cites one fact only",
    "characters": "only letters, digits, spaces and . , ; : ? % ( ) + - and quotation marks",
    "invented_number": "each number or number word (one, half, twice, third, dozen, 7 of 9) must"
    " stand in a cited fact, with the same sign, percent mark and partner",
    "invented_quote": "words in quotation marks must stand in a cited fact; better use none",
    "invented_name": "a name of a driver, domain, signal, style, level or theme, or a word with a"
    " capital letter inside the sentence, must stand in a cited fact as it is written there",
    "invented_word": "each other word must stand in a cited fact, in any inflection, or be a"
    " joining word",
    "contradiction": "no word that denies, reverses or strengthens (not, never, avoids, less,"
    " always, clearly) which the cited facts do not use; say perhaps where they do",
    "address": "no second or first person, no order, advice, duty, request or role, no link",
}

_PLAIN = frozenset(string.ascii_letters + string.digits + " .,;:?%()+-'\"\u2018\u2019\u201c\u201d")
_DASHES = frozenset("\u2013\u2014\u2026")
_DOUBLE = re.compile("[\u201c\u201d\u201e\u00ab\u00bb\u201f]")
_SINGLE = re.compile("[\u2018\u2019\u201a\u201b]")
_IN_SINGLE = re.compile(r"(?<![A-Za-z0-9])'(.*?)(?:'(?![A-Za-z0-9])|$)")
_CAPITAL = re.compile(r"(?<![A-Za-z'])[A-Z][A-Za-z]*")
_OPENS = re.compile(r"[.:;?(\"\u2014\u2013]\s*[\"'\u2018\u201c(]*$")
_PAIR_GAP = re.compile(
    r" (?:of|out of|in|in every|from|to|against|per|over) (?:the |all )?|\s*[-/:\u2013\u2014]\s*"
)
_HEDGE = re.compile(
    r"(more than|less than|fewer than|at least|at most|up to|above|below|nearly|almost|not even"
    r"|only|just|every) $"
)
_LINK = re.compile(r"[a-z0-9-]{2,}\.[a-z]{2,}|\bwww\b|\bhttps?\b")
_ROLE = re.compile(r"\b(?:system|assistant|user|human|developer|tool|owner|agent|ai)\s*:")
_DUTY = re.compile(r"\b(?:have|has|had|is|are|be) to\b|\bmake sure\b|\bact as\b")
_NOT_TOLD = re.compile(r"\b(?:no|not|cannot|neither|none|nothing)\b.*\btold from chance\b")
_JOINING_ROOTS = frozenset(map(root_of, JOINING))
_CLAUSE = re.compile(
    r"(?:^|[.,;:?\u2026\u2014\u2013(\"'+-]\s*"
    r"|\b(?:and|then|so|to always|or|but|also|yet|still|far|perhaps|maybe|possibly|likely|it"
    r"|before|after)\s+)(?=([a-z]+))"
)


def complaints(written: Written, facts: Facts) -> tuple[str, ...]:
    """What is wrong with the answer, `place code: meaning`; empty when nothing is.

    No word of the answer or of a fact is repeated, so a complaint may be logged.
    """
    found: list[tuple[str, str]] = []
    for part, sentences, most in (
        ("summary", written.summary, SENTENCES_IN_SUMMARY),
        ("block", written.block, SENTENCES_IN_BLOCK),
    ):
        found += [(part, code) for code in _of_part(sentences, most)]
        for place, sentence in enumerate(sentences[:most]):
            found += [(f"{part}[{place}]", code) for code in faults(sentence, facts)]
    if sum(len(s.text) for s in written.summary) > SUMMARY_LIMIT * 3 // 4:
        found.append(("summary", "too_many"))
    return tuple(f"{place} {code}: {CODES[code]}" for place, code in dict.fromkeys(found))


def faults(sentence: Sentence, facts: Facts) -> list[str]:
    """The codes of what is wrong with one sentence, in the order of `CODES`."""
    text, cited = sentence.text, facts.cited(sentence.facts)
    found = [code for code, is_wrong in _CITING.items() if is_wrong(sentence, cited)]
    if len(words_of(text)) < WORDS_LEAST or len(text) > SENTENCE_LIMIT:
        return [*found, "too_long"]
    return found + [code for code, is_wrong in _SAYING.items() if is_wrong(text, cited)]


def _of_part(sentences: Sequence[Sentence], most: int) -> Iterator[str]:
    if not sentences:
        yield "nothing_said"
    if len(sentences) > most:
        yield "too_many"


def _has_odd_characters(text: str, cited: Sequence[Fact]) -> bool:
    allowed = _PLAIN | _DASHES | {c for fact in cited for c in fact.text if c.isprintable()}
    return not set(text) <= allowed


def _invents_number(text: str, cited: Sequence[Fact]) -> bool:
    known: set[Numeral] = set()
    partners: set[tuple[Numeral, Numeral]] = set()
    bounds: set[tuple[str, Numeral]] = set()
    for fact in cited:
        found = numerals(fact.text)
        known |= {form for n in found for form in equal_forms(n)}
        for one, other in pairwise(found):
            partners |= {(a, b) for a in equal_forms(one) for b in equal_forms(other)}
        bounds |= _bounds(fact.text, found)
    said = numerals(text)
    return (
        not set(said) <= known
        or not _partners(text, said) <= partners
        or not _bounds(text, said) <= bounds
    )


def _partners(text: str, found: Sequence[Numeral]) -> set[tuple[Numeral, Numeral]]:
    """Numbers set in relation: 7 of 9, from 3 to 4."""
    plain = plain_text(text)
    return {(a, b) for a, b in pairwise(found) if _PAIR_GAP.fullmatch(plain[a.end : b.start])}


def _bounds(text: str, found: Sequence[Numeral]) -> set[tuple[str, Numeral]]:
    """Numbers that something is said to be more, less or nearly."""
    plain = plain_text(text)
    hedges = ((_HEDGE.search(plain[: n.start]), n) for n in found)
    return {(hedge[1], n) for hedge, n in hedges if hedge}


def _invents_quote(text: str, cited: Sequence[Fact]) -> bool:
    said = _one_kind_of_quotes(text)
    known = " \n ".join(_one_kind_of_quotes(fact.text) for fact in cited).lower()
    parts = said.split('"')
    if len(parts) % 2 == 0:
        return True
    quoted = [*parts[1::2], *(found[1] for found in _IN_SINGLE.finditer(said))]
    return any(words.strip(" .,;:?").lower() not in known for words in quoted)


def _one_kind_of_quotes(text: str) -> str:
    return _SINGLE.sub("'", _DOUBLE.sub('"', text))


def _invents_name(text: str, cited: Sequence[Fact]) -> bool:
    known = " . ".join(fact.words for fact in cited)
    if not named(text) <= named(known):
        return True
    capitals = {c.group().lower() for c in _CAPITAL.finditer(text) if _stands_out(text, c)}
    return not capitals <= set(words_of(known))


def _stands_out(text: str, capital: re.Match[str]) -> bool:
    """Whether it is not just the first word of a sentence."""
    before = text[: capital.start()]
    shouted = len(capital.group()) > 1 and capital.group().isupper()
    return shouted or not (_OPENS.search(before) or not before.strip(" \"'(\u2018\u201c"))


def _invents_word(text: str, cited: Sequence[Fact]) -> bool:
    known = _JOINING_ROOTS.union(*(_roots(fact.words) for fact in cited))
    return not _roots(_without_numbers(text)) <= known


def _roots(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", _one_kind_of_quotes(text).lower())
    return {root_of(word.removesuffix("n't").split("'")[0]) for word in words}


def _without_numbers(text: str) -> str:
    """Number words are held to `invented_number`."""
    plain = plain_text(text)
    for number in reversed(numerals(text)):
        plain = f"{plain[: number.start]} {plain[number.end :]}"
    return plain


def _contradicts(text: str, cited: Sequence[Fact]) -> bool:
    said, known = set(_english(text)), set(_english(" ".join(fact.text for fact in cited)))
    if known & SAYING_NO:
        known |= SAYING_NO
    if (said & DENYING) - known:
        return True
    if any(fact.text.startswith("Perhaps") for fact in cited) and not said & PERHAPS:
        return True
    lowered = " ".join(words_of(text))
    if any(map(_is_flat, cited)) and (said & CLAIMING - known or not _NOT_TOLD.search(lowered)):
        return True
    return any(opening in lowered for fact in cited for opening in _other_openings(fact))


def _mixes_numbers(sentence: Sentence, cited: Sequence[Fact]) -> bool:
    return len({fact.id for fact in cited}) > 1 and bool(numerals(sentence.text))


def _is_flat(fact: Fact) -> bool:
    """Whether it says what could not be told from chance."""
    return fact.about.endswith(":flat")


def _english(text: str) -> Iterator[str]:
    for word in re.findall(r"[a-z]+(?:'[a-z]+)?", _one_kind_of_quotes(text).lower()):
        if word.endswith("n't"):
            yield "not"
        yield word.split("'")[0]


def _other_openings(fact: Fact) -> Iterator[str]:
    """What a signal's sentence opens with when the signal stands elsewhere than it does."""
    own = " ".join(words_of(fact.text))
    for signal in SIGNALS:
        if fact.about == f"signal:{signal.name}":
            openings = {s.partition(":")[0] for s in signal.sentences if "{" not in s.split(":")[0]}
            yield from (o for o in (" ".join(words_of(o)) for o in openings) if o not in own)


def _addresses(text: str, cited: Sequence[Fact]) -> bool:
    lowered = _one_kind_of_quotes(text).lower()
    ours = _one_kind_of_quotes(" ".join(fact.text for fact in cited)).lower()
    known, said = set(_english(ours)), set(_english(lowered))
    begun = {match[1] for match in _CLAUSE.finditer(lowered)}
    return bool(
        (said & ADDRESSING) - known
        or (begun & BARE_VERBS) - known
        or _ROLE.search(lowered)
        or _DUTY.search(lowered)
        or any(link.group() not in ours for link in _LINK.finditer(lowered))
    )


_Citing = Callable[["Sentence", "Sequence[Fact]"], bool]
_CITING: dict[str, _Citing] = {
    "uncited": lambda sentence, cited: not sentence.facts,
    "unknown_fact": lambda sentence, cited: len(cited) < len(sentence.facts),
    "too_many_facts": lambda sentence, cited: len(sentence.facts) > FACTS_PER_SENTENCE,
    "mixed_domains": lambda sentence, cited: len({(f.scope, _is_flat(f)) for f in cited}) > 1,
    "mixed_numbers": _mixes_numbers,
}
_Saying = Callable[[str, "Sequence[Fact]"], bool]
_SAYING: dict[str, _Saying] = {
    "characters": _has_odd_characters,
    "invented_number": _invents_number,
    "invented_quote": _invents_quote,
    "invented_name": _invents_name,
    "invented_word": _invents_word,
    "contradiction": _contradicts,
    "address": _addresses,
}


def codes(found: Iterable[str]) -> tuple[str, ...]:
    """The codes among complaints, each once, in order."""
    return tuple(dict.fromkeys(c.split(" ", 1)[1].split(":", 1)[0] for c in found))
