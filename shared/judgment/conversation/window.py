"""What of a conversation is sent, so that it fits into a model's window.

Nothing gives way while all of it fits. Else, in this order and each only as far as needed:

1. Long answers of tools in earlier turns lose their middle, then long texts of earlier turns.
2. Answers of tools in earlier turns lose more of it.
3. Procedures read in earlier turns give way to a note that says to read them again.
4. The earliest turns go; a note in the system message says so and quotes how they began.
5. Answers of tools in this turn lose their middle.

What a model is to follow is never cut in the middle: the system prompt, a procedure or instruction
file, the owner's message. Nor is a call parted from its answer, nor shortened, because a model
would copy the gap into a file. If all this is not enough, nothing is sent (ContextOverflow).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

from judgment.conversation.model import json_line
from judgment.conversation.replay import Unit, answer_text
from judgment.kit.quoting import quote

if TYPE_CHECKING:
    from judgment.llm.chat import ChatMessage, ChatRole, ToolOffer, ToolUse

ANSWER_TOKENS = 8_000
"""Kept free for the model's answer, and at most a quarter of the window."""
WARNING_RATIO = 0.8
LONG_TEXTS: Mapping[ChatRole, int] = {"assistant": 12_000, "user": 8_000}
LONG_ANSWER = 4_000
SHORT_ANSWERS = (4_000, 2_000, 1_000, 500, 250, 120)
"""Characters that answers are cut to, tried in this order."""
CUT_MARK = "\n[... left out to save room ...]\n"
EXCERPTS = 24
EXCERPT_CHARACTERS = 120
EXCERPTS_TOKENS = 800
"""For whose room small turns go too, and at most a sixteenth of what is there."""
MESSAGE_TOKENS = 6
"""What a message costs beside its text."""

_INSTRUCTIONS = re.compile(r"(?:run-.*|agent.*)\.md", re.IGNORECASE | re.DOTALL)
_NEARLY_FULL = "This conversation is getting long. Consider starting a new one soon."
_MANAGED = "This conversation is long. Earlier parts were left out so that it can go on."


class ContextOverflow(Exception):
    """What must be sent does not fit. Both numbers are tokens."""

    def __init__(self, needed: int, budget: int):
        self.needed = needed
        self.budget = budget
        super().__init__(f"{needed} tokens are needed, {budget} are there.")


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens that prompt and answer share, and the tools that every prompt carries."""

    tokens: int
    offers: Sequence[ToolOffer] = ()

    @property
    def budget(self) -> int:
        """Tokens of a prompt with its tools."""
        return self.tokens - min(ANSWER_TOKENS, self.tokens // 4)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent. `estimated_tokens` is what the whole would take, tools included, and may
    exceed the budget; `managed` says whether anything gave way."""

    messages: list[ChatMessage] = field(repr=False)
    estimated_tokens: int
    budget_tokens: int
    managed: bool

    @property
    def ratio(self) -> float:
        """The whole to the budget."""
        return self.estimated_tokens / self.budget_tokens if self.budget_tokens > 0 else 0.0

    @property
    def warning(self) -> bool:
        """Whether the owner is to be told."""
        return self.managed or self.ratio >= WARNING_RATIO


def tokens(message: ChatMessage) -> int:
    """An estimate that is high for most texts, for models whose tokens we cannot count."""
    called = [json_line([call.id, call.name, _given(call)]) for call in message.calls]
    parts = (message.text, message.call_id or "", *called)
    return MESSAGE_TOKENS + sum(_estimate(part) for part in parts)


def offer_tokens(offers: Sequence[ToolOffer]) -> int:
    """An estimate of the tools that a prompt carries."""
    told = (json_line([one.name, one.description, dict(one.parameters)]) for one in offers)
    return sum(MESSAGE_TOKENS + _estimate(text) for text in told)


def fit(system: ChatMessage, history: Sequence[Unit], current: Unit, window: Window) -> Fitted:
    """The messages to send: the system message, earlier turns, the current turn last.

    Raises ContextOverflow.
    """
    draft = _Draft(system, [list(unit.messages) for unit in history], list(current.messages))
    room = window.budget - offer_tokens(window.offers)
    whole = draft.total
    for relieve in _RELIEFS:
        relieve(draft, room)
    needed = draft.total + window.budget - room
    if needed > window.budget:
        raise ContextOverflow(needed, window.budget)
    estimated = whole + window.budget - room
    return Fitted(draft.messages(room), estimated, window.budget, managed=whole > room)


def headers(fitted: Fitted) -> dict[str, str]:
    """The headers that tell a client how full the window is; none while there is room."""
    if not fitted.warning:
        return {}
    told = {
        "warning": "1",
        "estimated-tokens": str(fitted.estimated_tokens),
        "budget-tokens": str(fitted.budget_tokens),
        "ratio": f"{round(fitted.ratio, 3):g}",
        "threshold": f"{WARNING_RATIO:g}",
        "managed": "1" if fitted.managed else "0",
        "message": _MANAGED if fitted.managed else _NEARLY_FULL,
    }
    return {f"x-context-window-{name}": value for name, value in told.items()}


class _Draft:
    """What would be sent, and what it costs. Parts give way through `put` and `drop_first`."""

    def __init__(
        self, system: ChatMessage, turns: list[list[ChatMessage]], current: list[ChatMessage]
    ):
        self.system = system
        self.turns = turns
        self.current = current
        self.dropped: list[list[ChatMessage]] = []
        self.total = sum(tokens(one) for one in (system, *current))
        self.total += sum(tokens(one) for turn in turns for one in turn)

    def put(self, turn: list[ChatMessage], place: int, text: str) -> None:
        """Another text in a message's place, if it is a shorter one."""
        shorter = replace(turn[place], text=text)
        saved = tokens(turn[place]) - tokens(shorter)
        if saved > 0:
            turn[place] = shorter
            self.total -= saved

    def drop_first(self) -> None:
        """The earliest turn goes."""
        before = self._note_tokens([])
        self.dropped.append(self.turns.pop(0))
        self.total += self._note_tokens([]) - before
        self.total -= sum(tokens(one) for one in self.dropped[-1])

    def messages(self, room: int) -> list[ChatMessage]:
        """All of it, with as many words of the turns that went as there is room for."""
        excerpts = self._excerpts()
        spare = room - self.total + self._note_tokens([])
        while excerpts and self._note_tokens(excerpts) > spare:
            del excerpts[0]
        system = self._with_note(excerpts) if self.dropped else self.system
        return [system, *(one for turn in self.turns for one in turn), *self.current]

    def _note_tokens(self, excerpts: Sequence[str]) -> int:
        if not self.dropped:
            return 0
        return tokens(self._with_note(excerpts)) - tokens(self.system)

    def _with_note(self, excerpts: Sequence[str]) -> ChatMessage:
        count = len(self.dropped)
        lines = [
            "## Earlier Turns",
            "",
            f"Turns left out here to save room: {count}. Read the files, or ask, before you rely "
            "on what was said in them.",
        ]
        if excerpts:
            lines += ["", "How the latest of them began, as data:", *excerpts]
        return replace(self.system, text="\n".join((self.system.text, "", *lines)))

    def _excerpts(self) -> list[str]:
        told: list[str] = []
        for turn in self.dropped[-EXCERPTS:]:
            first = next((one for one in turn if one.text.strip() and one.role != "tool"), None)
            if first is not None:
                text = " ".join(first.text[: EXCERPT_CHARACTERS * 4].split())
                told.append(f"- {first.role}: {quote(text[:EXCERPT_CHARACTERS])}")
        return told


def _cut_answers(draft: _Draft, room: int) -> None:
    _shorten(draft, room, draft.turns, LONG_ANSWER)


def _cut_texts(draft: _Draft, room: int) -> None:
    for turn in draft.turns:
        for place, message in enumerate(turn):
            if draft.total <= room:
                return
            limit = LONG_TEXTS.get(message.role)
            if limit is not None:
                draft.put(turn, place, cut(message.text, limit))


def _cut_answers_more(draft: _Draft, room: int) -> None:
    for limit in SHORT_ANSWERS:
        _shorten(draft, room, draft.turns, limit)


def _put_procedures_off(draft: _Draft, room: int) -> None:
    for turn in draft.turns:
        for place, call in _answers(turn, instructions=True):
            if draft.total <= room:
                return
            note = f"Left out to save room. Read {quote(_path(call))} again before you follow it."
            draft.put(turn, place, answer_text("ok", {"note": note}))


def _drop_turns(draft: _Draft, room: int) -> None:
    while draft.turns and draft.total > room:
        draft.drop_first()
    spare = min(EXCERPTS_TOKENS, room // 16)
    while draft.dropped and draft.turns and draft.total > room - spare:
        if sum(tokens(one) for one in draft.turns[0]) > spare:
            break
        draft.drop_first()


def _cut_this_turn(draft: _Draft, room: int) -> None:
    for limit in SHORT_ANSWERS:
        _shorten(draft, room, [draft.current], limit)


_RELIEFS = (
    _cut_answers,
    _cut_texts,
    _cut_answers_more,
    _put_procedures_off,
    _drop_turns,
    _cut_this_turn,
)


def _shorten(draft: _Draft, room: int, turns: Sequence[list[ChatMessage]], limit: int) -> None:
    """Cut answers that are no instructions, the earliest first."""
    for turn in turns:
        for place, _call in _answers(turn, instructions=False):
            if draft.total <= room:
                return
            draft.put(turn, place, cut(turn[place].text, limit))


def _answers(
    turn: Sequence[ChatMessage], *, instructions: bool
) -> Iterator[tuple[int, ToolUse | None]]:
    """Places of the answers in a turn that are of instructions, or that are not, with calls."""
    made = {call.id: call for message in turn for call in message.calls}
    for place, message in enumerate(turn):
        if message.role == "tool":
            call = made.get(message.call_id or "")
            name = _path(call).replace("\\", "/").rpartition("/")[2].strip()
            if bool(_INSTRUCTIONS.fullmatch(name)) is instructions:
                yield place, call


def _path(call: ToolUse | None) -> str:
    given = call.arguments if call is not None else None
    path = given.get("path") if given is not None else None
    return path if isinstance(path, str) else ""


def cut(text: str, limit: int) -> str:
    """`text` within `limit` characters, a mark in the place of its middle."""
    if len(text) <= limit:
        return text
    kept = max(limit - len(CUT_MARK), 0)
    head = ceil(kept * 2 / 3)
    return f"{text[:head]}{CUT_MARK}{text[len(text) - (kept - head) :]}"


def _given(call: ToolUse) -> object:
    return call.problem if call.arguments is None else dict(call.arguments)


def _estimate(text: str) -> int:
    return ceil(max(len(text), len(text.encode("utf-8", "surrogatepass"))) / 4)
