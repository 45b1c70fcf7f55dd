"""What a skill's pages hold: command lines, requests, tables, links."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from judgment.cli.program import JUDGMENT, PREFS

if TYPE_CHECKING:
    from judgment.cli.table import Command

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills/judgment-preferences"

_CODE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROGRAMS = {"prefs": PREFS, "judgment": JUDGMENT}


@dataclass(frozen=True)
class Asked:
    """An HTTP request as a page shows it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str


def pages() -> list[Path]:
    """SKILL.md and its references."""
    return [SKILL / "SKILL.md", *sorted((SKILL / "references").glob("*.md"))]


def read(page: Path) -> str:
    """A page's text."""
    return page.read_text(encoding="utf-8")


def fences(page: Path, kind: str) -> list[str]:
    """The code blocks of that kind."""
    return [body for told, body in _FENCE.findall(read(page)) if told == kind]


def code(page: Path) -> list[str]:
    """The code spans, each on one line."""
    return [" ".join(span.split()) for span in _CODE.findall(_FENCE.sub("", read(page)))]


def command_lines(page: Path) -> list[list[str]]:
    """Every line that calls `prefs` or `judgment`, as its words; `[...]` stands for any words."""
    shell = [line for body in fences(page, "sh") for line in body.splitlines()]
    found = (shlex.split(text) for text in [*code(page), *shell])
    return [words for words in found if words and words[0] in _PROGRAMS]


def requests(page: Path) -> list[Asked]:
    """The requests in `http` blocks."""
    return [_asked(block) for block in fences(page, "http")]


def rows(page: Path, heading: str) -> list[list[str]]:
    """The cells of the table whose first column has that heading, without its head."""
    lines = read(page).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    body = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        body.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return body


def faults(words: list[str]) -> list[str]:
    """What is wrong with a command line by the table of commands; empty when it can be run.

    Upper-case words stand for something. A command alone, without options, only names it.
    """
    command, rest = _walk(_PROGRAMS[words[0]], words[1:])
    if command is None:
        return [f"there is no command {' '.join(words)}"]
    if command.children:
        return [] if rest in ([], ["--help"]) else [f"{rest[0]}: no such command"]
    return _options(command, rest) if rest and rest != ["--help"] else []


def _walk(command: Command, words: list[str]) -> tuple[Command | None, list[str]]:
    while words and not words[0].startswith("-") and command.children:
        child = command.child(words[0])
        if child is None:
            return None, words
        command, words = child, words[1:]
    return command, words


def _options(command: Command, words: list[str]) -> list[str]:
    known = {option.name: option for option in command.options if not option.positional}
    places = [option for option in command.options if option.positional]
    given: set[str] = set()
    wrong: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            if not places:
                wrong.append(f"{word}: too many arguments")
            else:
                given.add(places[0].name)
                places = places if places[0].many else places[1:]
            continue
        option = known.get(word)
        if option is None:
            wrong.append(f"{command.name} {word}: no such option")
            continue
        given.add(word)
        if option.shape == "flag":
            continue
        value = left.pop(0) if left else ""
        wrong += _value(word, option.shape, option.choices, value)
    missing = [o.name for o in command.options if o.required and o.name not in given]
    return wrong + [f"{command.name}: {name} is missing" for name in missing]


def _value(name: str, shape: str, choices: tuple[str, ...], value: str) -> list[str]:
    if not value:
        return [f"{name}: no value"]
    if value.isupper():
        return []
    if shape == "choice" and value not in choices:
        return [f"{name}: {value} is none of {choices}"]
    if shape == "number":
        float(value)
    if shape == "count":
        int(value)
    return []


def _asked(block: str) -> Asked:
    head, _, body = block.partition("\n\n")
    first, *lines = head.splitlines()
    method, _, target = first.partition(" ")
    url = urlsplit(target)
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return Asked(method, url.path, dict(parse_qsl(url.query)), headers, body)
