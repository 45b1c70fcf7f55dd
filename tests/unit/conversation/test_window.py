"""What is sent of a conversation when not all of it fits."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgment.conversation.replay import Unit, answer_text
from judgment.conversation.window import (
    CUT_MARK,
    EXCERPT_CHARACTERS,
    EXCERPTS,
    ContextOverflow,
    Fitted,
    Window,
    cut,
    fit,
    headers,
    offer_tokens,
    tokens,
)
from judgment.llm.chat import ChatMessage, ToolOffer, ToolUse

if TYPE_CHECKING:
    from collections.abc import Sequence

SYSTEM = ChatMessage(
    "system", "Today's date is 2026-07-26.\n\n## Managed Base: AGENT.md\n\nBe kind."
)
OFFER = ToolOffer("memory_read", "Read a file.", {"type": "object", "properties": {}})
PROCEDURES = ("documents/career/run-interview.md", "AGENT.md", "documents/a/AGENT-user.md")
FILES = ("me/profile.md", "documents/career/spec.md", "documents/career/run-notes.txt")


def read(number: int, path: str, content: str) -> list[ChatMessage]:
    """A call and its answer."""
    call = ToolUse(f"c{number}", "memory_read", {"path": path})
    answer = answer_text("ok", {"path": path, "content": content})
    return [ChatMessage("assistant", "", (call,)), ChatMessage("tool", answer, call_id=call.id)]


def turn(*messages: ChatMessage) -> Unit:
    return Unit(messages, UUID(int=1))


def said(text: str, answer: str = "Yes.") -> Unit:
    return turn(ChatMessage("user", text), ChatMessage("assistant", answer))


NOW = turn(ChatMessage("user", "What now?"))


def window_of(*messages: ChatMessage, spare: int = 0) -> Window:
    """A window whose budget is what these messages take, and `spare` tokens."""
    budget = sum(tokens(one) for one in messages) + spare
    window = Window(ceil(budget * 4 / 3))
    while window.budget > budget:
        window = Window(window.tokens - 1)
    assert window.budget == budget
    return window


def flat(history: Sequence[Unit], current: Unit) -> list[ChatMessage]:
    return [one for unit in (*history, current) for one in unit.messages]


def texts(fitted: Fitted) -> list[str]:
    return [one.text for one in fitted.messages]


@pytest.mark.promise("P4-message-window", "P4-message-prompt")
def test_what_fits_is_sent_as_it_is() -> None:
    history = [turn(ChatMessage("user", "u" * 50_000), *read(1, FILES[0], "f" * 50_000))]
    fitted = fit(SYSTEM, history, NOW, Window(128_000, [OFFER]))
    assert fitted.messages == [SYSTEM, *flat(history, NOW)]
    assert not fitted.managed
    assert not fitted.warning
    assert headers(fitted) == {}
    assert fitted.budget_tokens == 120_000
    whole = sum(tokens(one) for one in fitted.messages) + offer_tokens([OFFER])
    assert fitted.estimated_tokens == whole


@pytest.mark.promise("P4-message-window")
def test_what_fits_to_the_token_fits() -> None:
    fitted = fit(SYSTEM, [], NOW, window_of(SYSTEM, *NOW.messages))
    assert fitted.messages == [SYSTEM, *NOW.messages]
    assert (fitted.ratio, fitted.managed, fitted.warning) == (1, False, True)
    with pytest.raises(ContextOverflow):
        fit(SYSTEM, [], NOW, window_of(SYSTEM, *NOW.messages, spare=-1))


@pytest.mark.promise("P4-message-window")
def test_tokens_are_characters_or_bytes_by_four_and_six_for_the_message() -> None:
    assert tokens(ChatMessage("user", "")) == 6
    assert tokens(ChatMessage("user", "abcde")) == 8
    assert tokens(ChatMessage("user", "日本語")) == 6 + ceil(9 / 4)
    call = ToolUse("c1", "memory_write", {"path": "a", "content": "x" * 400})
    assert tokens(ChatMessage("assistant", "", (call,))) > 106
    broken = ToolUse("c1", "memory_write", None, "y" * 400)
    assert tokens(ChatMessage("assistant", "", (broken,))) > 106
    assert tokens(ChatMessage("user", "\ud83d")) == 7


@pytest.mark.promise("P4-message-window")
@pytest.mark.parametrize(("size", "budget"), [(4_096, 3_072), (32_000, 24_000), (128_000, 120_000)])
def test_room_is_kept_for_the_answer(size: int, budget: int) -> None:
    assert Window(size).budget == budget


@pytest.mark.promise("P4-message-window")
def test_long_answers_of_earlier_turns_lose_their_middle_first() -> None:
    old = turn(
        ChatMessage("user", "u" * 9_000),
        *read(1, FILES[0], "f" * 9_000),
        *read(2, PROCEDURES[0], "p" * 9_000),
    )
    window = window_of(SYSTEM, *flat([old], NOW), spare=-1_000)
    fitted = fit(SYSTEM, [old], NOW, window)
    changed = [
        place
        for place, (one, before) in enumerate(
            zip(fitted.messages, [SYSTEM, *flat([old], NOW)], strict=True)
        )
        if one != before
    ]
    assert changed == [3]
    answer = fitted.messages[3].text
    assert len(answer) == 4_000
    assert CUT_MARK in answer
    assert answer.startswith('{"status":"ok"')
    assert answer.endswith('"}}')
    assert fitted.managed


@pytest.mark.promise("P4-message-window")
def test_then_long_texts_of_earlier_turns() -> None:
    old = said("u" * 20_000, "a" * 20_000)
    short = said("u" * 8_000, "a" * 12_000)
    window = window_of(SYSTEM, *flat([old, short], NOW), spare=-4_500)
    sent = texts(fit(SYSTEM, [old, short], NOW, window))
    assert [len(text) for text in sent[1:]] == [8_000, 12_000, 8_000, 12_000, len("What now?")]
    assert [CUT_MARK in text for text in sent[1:]] == [True, True, False, False, False]


@pytest.mark.promise("P4-message-window", "002-12.1")
def test_a_procedure_of_an_earlier_turn_stays_whole_while_files_give_way() -> None:
    old = turn(
        ChatMessage("user", "Hi"),
        *read(1, PROCEDURES[0], "p" * 3_000),
        *read(2, FILES[1], "f" * 3_000),
    )
    fitted = fit(SYSTEM, [old], NOW, window_of(SYSTEM, *flat([old], NOW), spare=-500))
    assert fitted.messages[3] == old.messages[2]
    assert CUT_MARK in fitted.messages[5].text


@pytest.mark.promise("P4-message-window")
@pytest.mark.parametrize(
    "path", [*PROCEDURES, "./documents\\x\\RUN-PLANNING.md", "documents/x/run-journal-user.md"]
)
def test_a_procedure_of_an_earlier_turn_gives_way_as_a_whole(path: str) -> None:
    old = turn(ChatMessage("user", "Hi"), *read(1, path, "p" * 6_000))
    fitted = fit(SYSTEM, [old], NOW, window_of(SYSTEM, *flat([old], NOW), spare=-10))
    call, answer = fitted.messages[2:4]
    assert call == old.messages[1]
    assert answer.call_id == "c1"
    note = json.loads(answer.text)
    assert note["status"] == "ok"
    assert json.dumps(path) in note["output"]["note"]
    assert "again" in note["output"]["note"]
    assert "ppp" not in answer.text


@pytest.mark.promise("P4-message-window")
@pytest.mark.parametrize("path", FILES)
def test_another_file_is_no_procedure(path: str) -> None:
    old = turn(ChatMessage("user", "Hi"), *read(1, path, "p" * 6_000))
    fitted = fit(SYSTEM, [old], NOW, window_of(SYSTEM, *flat([old], NOW), spare=-10))
    assert CUT_MARK in fitted.messages[3].text


@pytest.mark.promise("P4-message-window")
def test_the_earliest_turns_go_and_a_note_says_so_and_quotes_them() -> None:
    history = [said(f"Question {number} <b>`\n{'w ' * 200}") for number in range(100)]
    window = window_of(SYSTEM, *flat(history[70:], NOW), spare=1_000)
    fitted = fit(SYSTEM, history, NOW, window)
    system, *rest = fitted.messages
    kept = len(rest) // 2
    assert rest == flat(history[100 - kept :], NOW)
    assert 30 <= kept <= 40
    assert system.role == "system"
    assert system.text.startswith(SYSTEM.text + "\n\n## Earlier Turns\n")
    assert f"save room: {100 - kept}." in system.text
    excerpts = [line for line in system.text.splitlines() if line.startswith("- user: ")]
    assert 0 < len(excerpts) <= EXCERPTS
    assert all(len(line) < EXCERPT_CHARACTERS + 40 for line in excerpts)
    assert json.loads(excerpts[-1].removeprefix("- user: ")).startswith(f"Question {99 - kept} ")
    assert "<b>" not in system.text
    assert [one.role for one in fitted.messages].count("system") == 1


@pytest.mark.promise("P4-message-window")
def test_at_last_answers_of_this_turn_lose_their_middle_but_procedures_do_not() -> None:
    now = turn(
        ChatMessage("user", "Let's get started" + "!" * 2_000),
        *read(1, PROCEDURES[0], "p" * 6_000),
        *read(2, FILES[1], "f" * 6_000),
        *read(3, FILES[0], "g" * 300),
    )
    history = [said("Before.")]
    fitted = fit(SYSTEM, history, now, window_of(SYSTEM, *now.messages, spare=-700))
    sent = fitted.messages[1:]
    assert [one.role for one in sent] == [one.role for one in now.messages]
    different = [place for place, one in enumerate(sent) if one != now.messages[place]]
    assert different == [4]
    assert "save room: 1." in fitted.messages[0].text


@pytest.mark.promise("P4-message-window", "NFR-008")
def test_what_cannot_be_made_to_fit_is_not_sent() -> None:
    now = turn(ChatMessage("user", "Hi"), *read(1, PROCEDURES[0], "p" * 12_000))
    with pytest.raises(ContextOverflow) as refused:
        fit(SYSTEM, [said("Before.")], now, Window(4_096, [OFFER]))
    assert refused.value.budget == 3_072
    assert refused.value.needed > 3_072
    with pytest.raises(ContextOverflow):
        fit(SYSTEM, [], turn(ChatMessage("user", "x" * 128 * 1024)), Window(4_096))
    with pytest.raises(ContextOverflow):
        fit(SYSTEM, [], NOW, Window(0))


@pytest.mark.promise("P4-message-window", "P4-message")
def test_the_headers_say_how_full_it_is() -> None:
    whole = [SYSTEM, *flat([said("a" * 4_000)], NOW)]
    nearly = fit(SYSTEM, [said("a" * 4_000)], NOW, window_of(*whole, spare=100))
    told = headers(nearly)
    assert told == {
        "x-context-window-warning": "1",
        "x-context-window-estimated-tokens": str(sum(tokens(one) for one in whole)),
        "x-context-window-budget-tokens": str(sum(tokens(one) for one in whole) + 100),
        "x-context-window-ratio": f"{round(nearly.ratio, 3):g}",
        "x-context-window-threshold": "0.8",
        "x-context-window-managed": "0",
        "x-context-window-message": told["x-context-window-message"],
    }
    over = headers(fit(SYSTEM, [said("a" * 4_000)], NOW, window_of(*whole, spare=-100)))
    assert over["x-context-window-managed"] == "1"
    assert float(over["x-context-window-ratio"]) > 1
    assert all(value.isascii() and value.isprintable() for value in over.values())


@pytest.mark.promise("P4-message-window")
@pytest.mark.parametrize(("used", "warns"), [(799, False), (800, True)])
def test_the_warning_begins_at_four_fifths(used: int, warns: bool) -> None:
    filler = used - tokens(SYSTEM) - 6
    now = turn(ChatMessage("user", "x" * filler * 4))
    window = window_of(SYSTEM, *now.messages, spare=1_000 - used)
    assert fit(SYSTEM, [], now, window).warning is warns


@pytest.mark.promise("P4-message-window")
@given(st.text(), st.integers(0, 60))
def test_a_cut_keeps_head_and_tail(text: str, limit: int) -> None:
    shorter = cut(text, limit)
    if len(text) <= limit:
        assert shorter == text
    else:
        head, tail = shorter.split(CUT_MARK)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(shorter) <= max(limit, len(CUT_MARK))


@st.composite
def spoken(draw: st.DrawFn, number: int, *, ended: bool) -> Unit:
    """A turn; procedures are of `§`, which nothing else holds."""
    words = st.integers(0, 15_000).map(lambda size: "w" * size)
    messages = [ChatMessage("user", draw(words) + "!")]
    for place in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from((*PROCEDURES, *FILES)))
        letter = "§" if path in PROCEDURES else "f"
        size = draw(st.one_of(st.integers(0, 200), st.integers(0, 8_000)))
        calling, answer = read(number * 10 + place, path, letter * size)
        messages += [ChatMessage("assistant", draw(words), calling.calls), answer]
    if ended and draw(st.booleans()):
        messages.append(ChatMessage("assistant", draw(words) + "."))
    return turn(*messages)


@st.composite
def talks(draw: st.DrawFn) -> tuple[list[Unit], Unit, Window]:
    history = [draw(spoken(number, ended=True)) for number in range(draw(st.integers(0, 4)))]
    current = draw(spoken(9, ended=False))
    whole = sum(tokens(one) for one in (SYSTEM, *flat(history, current)))
    size = draw(st.one_of(st.integers(0, 8_192), st.integers(whole // 4, whole * 2)))
    return history, current, Window(size, [OFFER] * draw(st.integers(0, 2)))


def attempted(history: list[Unit], current: Unit, window: Window) -> Fitted | None:
    try:
        return fit(SYSTEM, history, current, window)
    except ContextOverflow:
        return None


@pytest.mark.promise("P4-message-window", "P4-message-prompt", "002-12.1")
@given(talks())
def test_what_is_sent_fits_and_nothing_is_torn(talk: tuple[list[Unit], Unit, Window]) -> None:
    history, current, window = talk
    fitted = attempted(history, current, window)
    assume(fitted is not None)
    assert fitted is not None
    system, *sent = fitted.messages
    taken = sum(tokens(one) for one in fitted.messages) + offer_tokens(window.offers)
    assert taken <= window.budget
    kept = next(
        count
        for count in range(len(history) + 1)
        if len(flat(history[count:], current)) == len(sent)
    )
    assert system.text.startswith(SYSTEM.text)
    assert (system == SYSTEM) is (kept == 0)
    for one, before in zip(sent, flat(history[kept:], current), strict=True):
        assert (one.role, one.calls, one.call_id) == (before.role, before.calls, before.call_id)
        assert one.text == before.text or tokens(one) < tokens(before)
        assert one.text.count("§") in (0, before.text.count("§"))
    assert sent[-len(current.messages)] == current.messages[0]
    whole = sum(tokens(one) for one in (SYSTEM, *flat(history, current)))
    assert fitted.managed is (whole + offer_tokens(window.offers) > window.budget)
    assert fitted.managed or fitted.messages == [SYSTEM, *flat(history, current)]


@pytest.mark.promise("P4-message-window")
@given(talks())
def test_only_what_must_be_sent_can_be_too_much(talk: tuple[list[Unit], Unit, Window]) -> None:
    history, current, window = talk
    least = tokens(SYSTEM) + 50 + offer_tokens(window.offers)
    for one in current.messages:
        small = one.role == "tool" and "§" not in one.text
        least += 6 + min(tokens(one), 40) if small else tokens(one)
    assert least > window.budget or attempted(history, current, window) is not None
