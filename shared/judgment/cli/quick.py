"""The arguments of a quick command, read without click.

It reads what is plainly right and leaves all else (help, mistakes, completion) to click, which says
what is wrong; what it does read, click would read the same way (a property test holds the two
together). Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgment.cli.table import Command, Option


def found(group: Command, words: Sequence[str]) -> tuple[Command, list[str]] | None:
    """The command that `words` name and what follows it; None where click has to say something."""
    here = group
    for place, word in enumerate(words):
        below = here.child(word)
        if below is None:
            return None
        if not below.children:
            return below, list(words[place + 1 :])
        here = below
    return None


def arguments(command: Command, words: Sequence[str]) -> dict[str, Any] | None:
    """The values by parameter, or None where anything is not plainly right."""
    values: dict[str, Any] = {}
    places: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            places += left
            break
        if not word.startswith("-") or word == "-":
            places.append(word)
            continue
        if not _taken(command, word, left, values):
            return None
    if not _placed(command, places, values):
        return None
    if any(option.required and option.parameter not in values for option in command.options):
        return None
    return {option.parameter: option.absent for option in command.options} | values


def _taken(command: Command, word: str, left: list[str], values: dict[str, Any]) -> bool:
    """Take the option `word` and its value off `left`; False where it is not plainly right."""
    name, equals, text = word.partition("=")
    option = next((one for one in command.options if one.name == name), None)
    if option is None or (option.shape == "flag" and equals):
        return False
    if option.shape == "flag":
        values[option.parameter] = True
        return True
    if not equals:
        if not left:
            return False
        text = left.pop(0)
    return _kept(option, text, values)


def _placed(command: Command, places: list[str], values: dict[str, Any]) -> bool:
    for option in (one for one in command.options if one.positional):
        while places:
            if not _kept(option, places.pop(0), values):
                return False
            if not option.many:
                break
    return not places


def _kept(option: Option, text: str, values: dict[str, Any]) -> bool:
    if option.shape not in ("text", "choice"):
        return False
    if option.shape == "choice" and text not in option.choices:
        return False
    name = option.parameter
    values[name] = (*values.get(name, ()), text) if option.many else text
    return True
