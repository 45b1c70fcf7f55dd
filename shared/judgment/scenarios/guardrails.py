"""What no scenario's text may hold, as lists that anybody can read (docs: scenario guardrails).

Patterns are matched against the text in Unicode's compatibility form, in lower case, so that
full-width letters do not get round them. They are broad on purpose: a scenario that is refused is
written again, one that slips through is shown to somebody.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

SCANNED = 6_000
"""Characters of one text that are looked at; longer texts are refused for their length."""


@dataclass(frozen=True)
class Guard:
    """One kind of text that is refused: its code, what to do about it, and its patterns."""

    code: str
    repair: str
    pattern: re.Pattern[str]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns), re.MULTILINE)


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


_SELF = "(?:him|her|them|your|my|our|one)sel(?:f|ves)"
_THEIRS = "(?:his|her|their|your|my|one's)"
_MACHINE = "(?:ai|assistant|language model|llm|chat-?bots?|gpt)"
_NO_JOB = "(?:ai|(?:ai|helpful|virtual) assistant|language model|llm|chat-?bots?|gpt)"
_LOOK_ALIKE = str.maketrans(
    "\u0430\u0435\u0441\u0456\u0458\u043e\u0440\u0455\u0443\u0445\u0501\u04bb\u03bf\u03b1\u03bd",
    "aecijopsyxdhoav",
)
"""Cyrillic and Greek letters that read as Latin ones."""

GUARDS: tuple[Guard, ...] = (
    Guard(
        "url",
        "must hold no web address",
        _any(
            r"\bhttps?:",
            r"\bwww\.",
            r"\w://",
            r"\w\[\.\]\w",
            r"[a-z0-9]\.(?:com|org|net|io|dev|app|ai|co|info|biz|gov|edu|me|ly)\b",
        ),
    ),
    Guard(
        "code",
        "must hold no code and no backticks",
        _any("`", "~~~", r"\bdef \w+\(", r"\bfunction ?\w*\(", r"\$\{", r"</?script"),
    ),
    Guard(
        "markup",
        "must be plain text without tags, links, headings or template braces",
        _any(
            r"<[a-z/!?]",
            r"<\|",
            r"\|>",
            r"&(?:[a-z]{2,8}|#\d{1,6}|#x[0-9a-f]{1,6});",
            r"\]\(",
            r"!\[",
            r"\{\{|\}\}|\{%|%\}",
            r"^[ \t]{0,3}#{1,6} ",
            r"\*\*|__",
            r"^[ \t]*[-=*_]{3,}[ \t]*$",
            r"\\[nrtux]",
        ),
    ),
    Guard(
        "role_marker",
        "must not look like a turn of a conversation, such as 'system:'",
        _any(
            r"(?:^|[\n.!?>\"'\]] *)\W{0,3}(?:system|assistant|user|developer|human|ai|tool"
            r"|model|instructions?|prompt)\s*:",
            r"\[/?(?:inst|sys|system|assistant|user)\]",
            r"<<sys>>",
            r"\bim_(?:start|end)\b",
            r"\bbegin_of_text\b",
            r"\bend of (?:system )?prompt\b",
        ),
    ),
    Guard(
        "instructions",
        "must tell the story only, and tell neither a reader nor a program what to do or choose",
        _any(
            r"\b(?:ignore|disregard|forget|override|bypass|skip) (?:(?:all|any|the|of|your|my|these"
            r"|those|every|everything) ){0,4}(?:previous|prior|above|earlier|preceding|foregoing"
            r"|system) (?:\w+ )?(?:instruction|prompt|rule|message|direction|guideline|context"
            r"|text|command)s?",
            r"\b(?:ignore|disregard|forget) (?:everything|anything|all) (?:above|before|else|you)",
            r"\b(?:ignore|disregard|forget) (?:your|these|those|all) (?:\w+ )?"
            r"(?:instructions|prompts?|guidelines|training)\b",
            r"\b(?:system|hidden|initial|original|developer) prompt\b",
            r"\b(?:reveal|print|repeat|output|show|leak|return) (?:me )?(?:your|the|all) (?:\w+ )?"
            r"(?:prompt|instructions|secrets?|api keys?|passwords?|context|system message)\b",
            r"\b(?:new|updated|additional|secret) instructions?\s*(?::|for you\b|follow\b)",
            r"\b(?:system message|repeat (?:everything|all|the text|the words) above)\b",
            r"\b(?:personal|owner's) context\b",
            r"\bdeveloper mode\b",
            r"\bjailbreak",
            r"\b(?:respond|reply|answer|output) (?:only )?(?:with|in|as) (?:json|only|exactly)\b",
            r"\b(?:choose|pick|select|click|take) (?:the )?(?:first|second|third|fourth|last|other)"
            r" (?:option|answer|choice)\b",
            r"\b(?:choose|pick|select|click) (?:the )?(?:option|answer|choice)\b",
            r"\bthe (?:correct|expected|intended) (?:option|choice)\b",
            r"\bthe (?:correct|expected|intended) answer is (?:option )?[a-f1-6]\b",
            r"\b(?:option|answer|choice) [a-f1-6] is (?:the )?(?:right|best|correct|good)\b",
            r"\byou (?:should|must) (?:pick|choose|select) (?:option )?[a-f]\b",
            r"\bcall the \w+ (?:tool|function)\b",
        ),
    ),
    Guard(
        "addressed_to_ai",
        "must speak to the person who decides, never to a program",
        _any(
            rf"\b(?:dear|hey|hello|attention|note to|message to) (?:the |any |all )?{_MACHINE}\b",
            rf"\b(?:as|you are|you're|if you are|acting as|pretend to be|you are now)"
            rf" (?:now )?(?:an? |the )?{_NO_JOB}\b",
            r"\b(?:note|message|instructions?) (?:to|for) (?:the |any )?(?:model|program)\b",
            r"\blarge language models?\b",
            r"\byour (?:training|weights|context window|system message|guardrails)\b",
            r"\b(?:chatgpt|openai|anthropic)\b",
        ),
    ),
    Guard(
        "contact",
        "must hold no e-mail address, handle, phone, card or account number",
        _any(
            r"\w ?(?:@|\(at\)|\[at\]) ?[\w-]+ ?\.",
            r"(?:^|\s)@\w{2,}",
            r"\w ?[\[(]dot[\])] ?\w",
            r"\+\d[\d ().-]{6,}\d",
            r"\b\d(?:[ ().-]{0,2}\d){8,}",
            r"\b(?:call|phone|ring|dial|text|tel\w*)\b.{0,20}\b\d{3}[-.]\d{4}\b",
            r"\b[a-z]{2}\d{2} ?(?:[a-z0-9]{4} ?){3,}",
        ),
    ),
    Guard(
        "sexual",
        "must hold nothing sexual",
        _words(
            r"(?<!same[- ])(?<!opposite )sex(?:y|ual\w*|ting)?",
            r"porn\w*",
            r"naked\w*",
            r"nudes?|nudity",
            r"erotic\w*",
            r"orgasm\w*",
            r"genital\w*",
            r"masturbat\w*",
            r"fetish\w*",
            r"incest\w*",
            r"prostitut\w*",
            r"rap(?:e|ed|es|ing|ists?)",
            r"molest\w*",
            r"p(?:a)?edophil\w*",
            r"strip ?(?:club|tease)\w*",
            r"brothels?",
            r"seduc\w*",
            r"lingerie",
        ),
    ),
    Guard(
        "graphic",
        "must hold no graphic violence",
        _words(
            r"gor(?:e|y)",
            r"dismember\w*",
            r"(?:be|de)(?:head|capitat)\w*",
            r"disembowel\w*",
            r"eviscerat\w*",
            r"mutilat\w*",
            r"tortur\w*",
            r"entrails",
            r"blood(?:bath|-?soaked)",
            r"massacr\w*",
            r"slaughter\w* (?:of )?(?:the )?(?:men|women|children|people|prisoners|villagers)",
            rf"(?:cut|slit|slash)\w* {_THEIRS} throats?",
            r"blood (?:spray|spurt|gush|drip)\w*",
            r"shoot(?:ing)? up (?:a|the|his|her|their)",
            r"flay(?:ed|ing)?",
            r"impal(?:e|ed|ing)",
            r"lynch(?:ed|ings?)",
        ),
    ),
    Guard(
        "self_harm",
        "must not touch on self-harm",
        _words(
            r"suicid\w*",
            r"self[- ]?(?:harm|injur|mutilat)\w*",
            rf"(?:kill|killed|killing|hang|hanged|hanging|harm|harmed|harming|hurt"
            rf"|hurting|starve|starved|starving) {_SELF}",
            r"overdos\w*",
            rf"(?:slit|slitting|cut) {_THEIRS} wrists?",
            r"(?:cuts|cutting) (?:him|her|my|your|them)sel(?:f|ves)(?! (?:off|out|loose|a|some)\b)",
            rf"(?:die|dies|died|dying) by {_THEIRS} own hands?",
            r"end it all",
            rf"(?:end|ended|ending|take|took|taking) {_THEIRS} own lives?",
            rf"(?:end|ended|ending) {_THEIRS} (?:life|lives)",
            r"anorexi\w*|bulimi\w*",
        ),
    ),
    Guard(
        "hate",
        "must demean nobody for what they are",
        _words(
            r"sub-?humans?",
            r"(?:people|men|women|families|workers|immigrants|migrants|refugees|foreigners|strangers"
            r"|they|we|those|these) are (?:\w+ )?(?:vermin|parasites|cockroaches|animals|rats)",
            r"exterminat\w* (?:them|people|those|these|the (?:people|others))",
            r"be exterminated",
            r"untermensch\w*",
            r"(?:master|inferior|superior) race",
            r"(?:racially|genetically) (?:inferior|superior)",
            r"ethnic(?:ally)? cleans\w*",
            r"genocid\w*",
            r"death to all",
            r"white (?:power|supremac\w*)",
            r"heil",
            r"nazis?",
            r"n[i1]gg(?:er|a)s?",
            r"fagg?ots?",
            r"kikes?",
            r"wetbacks?",
            r"ragheads?",
            r"tranny|trannies",
            r"retard(?:s|ed)?",
        ),
    ),
)


def broken(text: str) -> Iterator[Guard]:
    """The guards that the text does not get past, in the order of the table."""
    plain = unicodedata.normalize("NFKC", text[:SCANNED]).lower().replace("\u2019", "'")
    plain = plain.translate(_LOOK_ALIKE)
    return (guard for guard in GUARDS if guard.pattern.search(plain))


def hides_something(text: str, *, lines: bool) -> bool:
    """Whether a character cannot be seen; line breaks may where `lines` is true."""
    return any(_hidden(character, lines=lines) for character in text[:SCANNED])


def _hidden(character: str, *, lines: bool) -> bool:
    if character == "\n":
        return not lines
    if character.isascii():
        return not character.isprintable()
    code = ord(character)
    # Variation selectors and tags are marks to Unicode and whole sentences to a model.
    spelling = 0xFE00 <= code <= 0xFE0F or 0xE0000 <= code <= 0xE0FFF
    return spelling or unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
