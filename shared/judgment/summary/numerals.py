"""Every number in a text, however it is spelled, in reading order.

A number is a value and a kind: `12`, "twelve" and `12.0` are the same plain number, `58%` and
"fifty-eight percent" the same percentage, and a percentage equals the decimal fraction it stands
for. Words that count without naming a value (half, twice, dozen, third, XII, ½ beyond its value)
are numbers of their own that equal nothing but themselves.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

Kind = Literal["plain", "percent", "ordinal", "word"]

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: n for n, word in enumerate(_UNITS)} | {
    word: 10 * n for n, word in enumerate(_TENS, 2)
}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_STEMS = (
    "thir|four|fif|six|seven|eigh|nin|ten|eleven|twelf|thirteen|fourteen|fifteen|sixteen|"
    "seventeen|eighteen|nineteen|twentie|thirtie|fortie|fiftie|sixtie|seventie|eightie|ninetie|"
    "hundred|thousand|million|billion"
)
_COUNTING = re.compile(
    rf"first|seconds?|thirds?|(?:{_STEMS})ths?|half|halves|halved|halving|quarters?|quartered|once"
    r"|twice|thrice|single|doubl(?:e|es|ed|ing)|tripl(?:e|es|ed|ing)|trebl(?:e|es|ed)"
    r"|quadrupl(?:e|es|ed)|dozens?|couples?|pairs?|nought|nil|naught|\w*(?:hundred|thousand|"
    r"million|billion)s|\w+fold|percent|percents|pct|per ?cent|percentages?|permille"
)
_PERCENT = r"(?:%|percent\b|per[ -]cent\b|pct\b|percentage points?\b)"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
_TOKEN = re.compile(
    rf"(?P<number>(?:(?<![\w)])[+-])?(?:{_DIGITS}?\.\d+|{_DIGITS}))"
    rf"(?:(?P<percent>\s*{_PERCENT})|(?P<ordinal>(?:st|nd|rd|th)\b)|(?P<tail>[a-z_]\w*))?"
    r"|(?P<word>[a-z]+)"
    r"|(?P<symbol>[^\x00-\x7f])"
)
_ROMAN = re.compile(r"\b[IVXLCDM]{2,}\b")


@dataclass(frozen=True)
class Numeral:
    """One number; `start` and `end` are its place in `plain_text` of the text."""

    kind: Kind
    value: Decimal | str
    start: int = field(compare=False, default=0)
    end: int = field(compare=False, default=0)


def plain_text(text: str) -> str:
    """The text in lower case with one spelling of digits, minus signs and compatibility forms."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).replace("\u2212", "-").replace("\u2044", "/")
    return "".join(_ascii_digit(c) for c in folded).lower()


def numerals(text: str) -> list[Numeral]:
    """Every number in the text, in order."""
    plain = plain_text(text)
    found: list[Numeral] = []
    words: list[re.Match[str]] = []
    for token in _TOKEN.finditer(plain):
        if token["word"] and _joins(words, token, plain):
            words.append(token)
            continue
        found += _spelled(words, plain)
        words = []
        if found and token.start() < found[-1].end:
            continue  # the percent of "nine percent"
        if token["word"] in _SMALL or token["word"] in _LARGE:
            words = [token]
        else:
            found += _single(token)
    found += _spelled(words, plain)
    found += [
        Numeral("word", roman.group().lower(), *roman.span())
        for roman in _ROMAN.finditer(unicodedata.normalize("NFKC", text))
    ]
    return sorted(found, key=lambda n: n.start)


def equal_forms(numeral: Numeral) -> set[Numeral]:
    """The number and, for a percentage or a decimal fraction below 1, the other spelling."""
    forms = {numeral}
    if isinstance(numeral.value, Decimal) and 0 < numeral.value < 1:
        if numeral.kind == "percent":
            forms.add(Numeral("plain", numeral.value))
        elif numeral.kind == "plain":
            forms.add(Numeral("percent", numeral.value))
    return forms


def _ascii_digit(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _single(token: re.Match[str]) -> list[Numeral]:
    span = token.span()
    if token["number"]:
        return [_in_digits(token)]
    if token["word"]:
        counts = _COUNTING.fullmatch(token["word"])
        return [Numeral("word", token["word"], *span)] if counts else []
    is_number = unicodedata.numeric(token["symbol"], None) is not None
    return [Numeral("word", token["symbol"], *span)] if is_number or token["symbol"] == "‰" else []


def _in_digits(token: re.Match[str]) -> Numeral:
    value, span = Decimal(token["number"].replace(",", "")), token.span()
    if token["percent"]:
        return Numeral("percent", value / 100, *span)
    if token["ordinal"]:
        return Numeral("ordinal", value, *span)
    if token["tail"]:
        return Numeral("word", token.group(), *span)
    return Numeral("plain", value, *span)


def _joins(words: list[re.Match[str]], token: re.Match[str], plain: str) -> bool:
    """Whether the word goes on with the number begun by `words`: forty two, not two two."""
    if not words or plain[words[-1].end() : token.start()].strip(" -"):
        return False
    last, word = words[-1]["word"], token["word"]
    if word in _LARGE:
        return last != "and"
    if word == "and":
        return last in _LARGE
    if word not in _SMALL:
        return False
    return last in _LARGE or last == "and" or (last in _TENS and _SMALL[word] < 10)


def _spelled(words: list[re.Match[str]], plain: str) -> list[Numeral]:
    if words and words[-1]["word"] == "and":
        words = words[:-1]
    if not words:
        return []
    total, current = 0, 0
    for word in (w["word"] for w in words):
        if word in _SMALL:
            current += _SMALL[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _LARGE:
            total, current = total + (current or 1) * _LARGE[word], 0
    value, start, end = Decimal(total + current), words[0].start(), words[-1].end()
    percent = re.compile(rf"[ -]*{_PERCENT}").match(plain, end)
    if percent:
        return [Numeral("percent", value / 100, start, percent.end())]
    return [Numeral("plain", value, start, end)]
