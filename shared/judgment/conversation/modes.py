"""Whether a model's writes wait for their owner: one key of `preferences/default.json`.

The starter pack says `auto-approve`. Only that very word lets writes through: a file that is
damaged, lost, or says anything else asks the owner each time.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from json.decoder import JSONDecoder
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from judgment.contract.conversations import ApprovalMode, ApprovalSettingInUse
from judgment.conversation import pages
from judgment.conversation.edits import as_refusals, write
from judgment.conversation.model import json_value
from judgment.kit.clock import Clock, utc_now
from judgment.memory import files
from judgment.memory.model import MemoryFailure

if TYPE_CHECKING:
    from judgment.conversation.recording import Begin
    from judgment.db.connection import Transaction

PATH = "preferences/default.json"
KEY = "approval_mode"
_DECODER = JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


class ApprovalModes:
    """The owner's mode, asked for and set."""

    def __init__(self, begin: Begin, clock: Clock = utc_now):
        self._begin = begin
        self._clock = clock

    def mode(self, user_id: UUID) -> ApprovalSettingInUse:
        """The mode that holds from the next turn on."""
        with self._begin(user_id) as tx:
            pages.ensure(tx, user_id, self._clock())
            return ApprovalSettingInUse(approval_mode=approval_mode(tx, user_id))

    def choose(self, user_id: UUID, mode: ApprovalMode) -> ApprovalSettingInUse:
        """Another mode. A damaged file is replaced; its text stays in its history."""
        now = self._clock()
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, now)
            set_approval_mode(tx, user_id, mode, now)
        return ApprovalSettingInUse(approval_mode=mode)


def approval_mode(tx: Transaction, user_id: UUID) -> ApprovalMode:
    """The mode that the owner's file says; `ask-on-write` where it says none."""
    given = _settings(_kept(tx, user_id))
    return "auto-approve" if given and given.get(KEY) == "auto-approve" else "ask-on-write"


def set_approval_mode(tx: Transaction, user_id: UUID, mode: ApprovalMode, at: datetime) -> None:
    """Write the mode; every other character of the file stays. Raises MemoryFailure."""
    text = _kept(tx, user_id)
    given = _settings(text)
    if given is None or text is None:
        changed = json.dumps({KEY: mode}, indent=2) + "\n"
    else:
        changed = with_mode(text, mode)
    write(tx, user_id, PATH, changed, f"Update {PATH} via UI", at)


def _kept(tx: Transaction, user_id: UUID) -> str | None:
    try:
        return files.read(tx, user_id, PATH).content.decode("utf-8")
    except (MemoryFailure, UnicodeDecodeError):
        return None


def _settings(text: str | None) -> dict[str, Any] | None:
    """The object that the text is; None where it is none, or has a name twice."""
    try:
        value = json_value(text or "")
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def with_mode(text: str, mode: ApprovalMode) -> str:
    """`text`, a JSON object, with the mode in the place of the old one, or as its first field."""
    field = json.dumps(mode)
    first = at = _after_blanks(text, _after_blanks(text, 0) + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)
        _, at = _DECODER.raw_decode(text, start)
        if name == KEY:
            return text[:start] + field + text[at:]
        at = _after_blanks(text, at)
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
    brace = text.index("{") + 1
    if text[first] == "}":
        return f'{text[:brace]}\n  "{KEY}": {field}\n{text[first:]}'
    between = text[brace:first]
    return f'{text[:first]}"{KEY}": {field},{between or " "}{text[first:]}'


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
