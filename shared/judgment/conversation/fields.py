"""Foreign JSON read field by field: what is not exactly as it should be is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from judgment.conversation.model import Conversation, json_value, parse_timestamp
from judgment.conversation.titles import UNTITLED

MOST_CHARACTERS = 64 * 1024 * 1024
"""Of one file."""
MOST_ENTRIES = 100_000
"""Messages of a conversation, conversations of an index, pages of a manifest."""
LONGEST_NAME = 1_000
"""Characters of an id, a title, a name, an icon."""

CONVERSATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
PROJECT_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class DamagedFile(ValueError):
    """A file that is not whole, or not of the kind it should be; says where and why."""


class Fields:
    """An object with exactly the fields it should have, each asked for by its kind."""

    def __init__(self, given: Any, names: Sequence[str], where: str):
        self._where = where
        if not isinstance(given, dict):
            raise DamagedFile(f"{where} is no object.")
        self._given = cast("dict[str, Any]", given)
        if missing := [name for name in names if name not in self._given]:
            raise DamagedFile(f"{where} lacks {missing[0]}.")
        if len(self._given) > len(names):
            raise DamagedFile(f"{where} has fields beside {', '.join(names)}.")

    def text(self, name: str, most: int = MOST_CHARACTERS) -> str:
        """Text that can be stored."""
        value = self._given[name]
        if not isinstance(value, str):
            raise self._wrong(name, "is no text")
        if len(value) > most:
            raise self._wrong(name, "is too long")
        if _UNSTORABLE.search(value):
            raise self._wrong(name, "holds a NUL or half a character")
        return value

    def name(self, name: str) -> str:
        """A text that is short and not empty."""
        value = self.text(name, LONGEST_NAME)
        if not value:
            raise self._wrong(name, "is empty")
        return value

    def id_of(self, name: str, form: re.Pattern[str]) -> str:
        """An id."""
        value = self.text(name, LONGEST_NAME)
        if not form.fullmatch(value):
            raise self._wrong(name, "is no id")
        return value

    def conversation_id(self, name: str) -> str:
        """The id of a conversation."""
        return self.id_of(name, CONVERSATION_ID)

    def is_null(self, name: str) -> bool:
        """Whether nothing is given."""
        return self._given[name] is None

    def moment(self, name: str) -> datetime:
        """A time."""
        text = self.text(name, LONGEST_NAME)
        try:
            return parse_timestamp(text)
        except ValueError as error:
            raise self._wrong(name, "is no time") from error

    def count(self, name: str) -> int:
        """A number of things."""
        value = self._given[name]
        if type(value) is not int or not 0 <= value <= MOST_ENTRIES:
            raise self._wrong(name, "is no number of messages")
        return value

    def listed(self, name: str) -> list[Any]:
        """A list."""
        return listing(self._given[name], f"{self._where}: {name}")

    def skills(self, name: str) -> tuple[str, ...]:
        """Ids of skills."""
        entries = self.listed(name)
        each = (Fields({name: one}, (name,), self._where).name(name) for one in entries)
        return tuple(each)

    def conversation(self, skills: tuple[str, ...]) -> Conversation:
        """The fields that a conversation has in both files. A title may be null."""
        return Conversation(
            id=self.conversation_id("id"),
            title=UNTITLED if self.is_null("title") else self.name("title"),
            created_at=self.moment("created_at"),
            updated_at=self.moment("updated_at"),
            message_count=self.count("message_count"),
            active_skill_ids=skills,
        )

    def _wrong(self, name: str, why: str) -> DamagedFile:
        return DamagedFile(f"{self._where}: {name} {why}.")


def parsed(text: str, where: str = "The file") -> Any:
    """The value of a JSON text. Raises DamagedFile."""
    bounded(text)
    try:
        return json_value(text)
    except ValueError as error:
        raise DamagedFile(f"{where} is no JSON.") from error


def bounded(text: str) -> None:
    """Raises DamagedFile for a text that is too large."""
    if len(text) > MOST_CHARACTERS:
        raise DamagedFile("It is too large.")


def listing(value: Any, where: str) -> list[Any]:
    """A list that is not too long. Raises DamagedFile."""
    if not isinstance(value, list):
        raise DamagedFile(f"{where} is no list.")
    entries = cast("list[Any]", value)
    if len(entries) > MOST_ENTRIES:
        raise DamagedFile(f"{where} has too many entries.")
    return entries
