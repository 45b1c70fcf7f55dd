"""`judgment chat` at a real terminal: questions while the stream is open, Ctrl-C, line by line."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from judgment.contract import messages as wire
from tests.fakes.message_gateway import CONVERSATION, Asked, Wire, says
from tests.unit.cli.chat.terminals import Terminal, without_modes
from tests.unit.cli.chat.test_chat import ASKS, WRITE, WROTE, asks_and_goes_on, text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.chat.conftest import Starts

pytestmark = pytest.mark.promise("P4-chat", "AC-034")


@pytest.mark.promise("P4-approval")
@pytest.mark.parametrize(("typed", "decision"), [("y", "approved"), ("no", "denied")])
def test_the_owner_is_asked_while_the_stream_is_open_and_it_goes_on_with_the_answer(
    starts: Starts, tmp_path: Path, typed: str, decision: str
) -> None:
    gateway = starts(asks_and_goes_on)
    with Terminal(gateway, tmp_path, "Note it", piped=True) as terminal:
        terminal.sees("approve? [y]es, [n]o, [s]how, [l]ater: ")
        terminal.types("what?")
        terminal.sees("[l]ater: ")
        terminal.types("s")
        terminal.sees("content: Run.")
        terminal.sees("[l]ater: ")
        assert gateway.decisions == {}
        terminal.types(typed)
        terminal.sees(f"* {decision}")
        terminal.ends()
        assert terminal.stdout == f"So it is {decision}.\n"
    assert gateway.decisions == {"q1": decision}


@pytest.mark.promise("P4-approval", "R-30")
def test_what_is_left_for_later_can_be_answered_when_the_turn_is_over(
    starts: Starts, tmp_path: Path
) -> None:
    def cannot_wait(line: Wire) -> None:
        line.send(WRITE, ASKS)
        line.done("awaiting_approval")

    settled = [wire.ApprovalResult(request_id="q1", decision="approved"), WROTE]
    gateway = starts(cannot_wait, says(*settled, *text("Done.")))
    gateway.open(ASKS.model_copy(update={"request_id": "q2"}), "elsewhere")
    with Terminal(gateway, tmp_path) as terminal:
        terminal.sees("> ")
        terminal.types("Note it")
        terminal.sees("[l]ater: ")
        terminal.types("l")
        terminal.sees("It waits for your answer.")
        terminal.sees("[l]ater: ")
        assert gateway.decisions == {}
        terminal.types("s")
        terminal.sees("content: Run.")
        terminal.types("y")
        terminal.sees("approved; the next message there settles it")
        terminal.sees("> ")
        terminal.types("Well?")
        terminal.sees("* approved, as you decided earlier")
        terminal.sees("Done.")
        terminal.sees("> ")
        terminal.types("/quit")
        assert "elsewhere" not in terminal.ends()
    assert gateway.decisions == {"q1": "approved"}
    assert [asked.conversation_id for asked in gateway.asked] == [None, CONVERSATION]


def test_words_are_shown_as_they_come(starts: Starts, tmp_path: Path) -> None:
    go_on = threading.Event()

    def slowly(line: Wire) -> None:
        line.send(*text("First "))
        assert go_on.wait(20)
        line.send(*text("then."))
        line.done()

    with Terminal(starts(slowly), tmp_path, "Hi") as terminal:
        terminal.sees("First ")
        assert "then." not in terminal.shown
        go_on.set()
        terminal.sees("then.")
        terminal.ends()


@pytest.mark.promise("P4-stream-gone")
def test_ctrl_c_asks_the_server_to_stop_and_takes_what_it_still_says(
    starts: Starts, tmp_path: Path
) -> None:
    def until_stopped(line: Wire) -> None:
        line.send(*text("On and on"))
        line.stopped()
        line.send(*text(" and off."))
        line.done("stopped")

    gateway = starts(until_stopped)
    with Terminal(gateway, tmp_path, "Hi") as terminal:
        terminal.sees("On and on")
        terminal.presses_ctrl_c()
        terminal.sees("and off.")
        terminal.ends()
    assert gateway.stops == [CONVERSATION]


def test_ctrl_c_before_the_answer_begins_stops_it_once_its_conversation_is_known(
    starts: Starts, tmp_path: Path
) -> None:
    begin = threading.Event()

    def late(line: Wire) -> None:
        line.stopped()
        line.done("stopped")

    gateway = starts(late)
    gateway.before_head = lambda: begin.wait(20)
    with Terminal(gateway, tmp_path, "Hi") as terminal:
        gateway.wait(lambda: gateway.asked)
        terminal.presses_ctrl_c()
        assert gateway.stops == []
        begin.set()
        terminal.sees("Asking it to stop")
        terminal.ends()
    assert gateway.stops == [CONVERSATION]


def test_a_second_ctrl_c_leaves(starts: Starts, tmp_path: Path) -> None:
    over = threading.Event()

    def deaf(line: Wire) -> None:
        line.send(*text("On and on"))
        over.wait(20)

    gateway = starts(deaf)
    with Terminal(gateway, tmp_path, "Hi") as terminal:
        terminal.sees("On and on")
        terminal.presses_ctrl_c()
        terminal.sees("Ctrl-C again leaves")
        gateway.wait(lambda: gateway.stops)
        terminal.presses_ctrl_c()
        terminal.sees("Interrupted.")
        shown = terminal.ends(130)
        over.set()
    assert f"Conversation {CONVERSATION}" in shown


def test_ctrl_c_at_a_question_leaves_it_open_and_stops_the_turn(
    starts: Starts, tmp_path: Path
) -> None:
    def asks(line: Wire) -> None:
        line.send(WRITE, ASKS)
        line.stopped()
        line.done("awaiting_approval")

    gateway = starts(asks)
    with Terminal(gateway, tmp_path, "Note it") as terminal:
        terminal.sees("[l]ater: ")
        terminal.presses_ctrl_c()
        terminal.sees("waits for your answer.")
        terminal.sees("[l]ater: ")
        terminal.types("n")
        terminal.ends()
    assert gateway.stops == [CONVERSATION]
    assert gateway.decisions == {"q1": "denied"}


def test_lines_are_messages_and_slashes_are_commands(starts: Starts, tmp_path: Path) -> None:
    gateway = starts(says(*text("One.")), says(*text("Two.")), says(*text("Three.")))
    gateway.open(ASKS, "elsewhere")
    with Terminal(gateway, tmp_path, "--project", "fitness") as terminal:
        for typed, seen in (
            ("/stop", "There is no conversation yet."),
            ("Hello", "One."),
            ("", ""),
            ("/pages", "* fitness: Fitness"),
            ("/stop", "Asked it to stop."),
            (" /stop", "Two."),
            ("/approvals", "in conversation elsewhere waits for your answer."),
        ):
            terminal.sees("> ")
            terminal.types(typed)
            terminal.sees(seen)
        terminal.sees("[y]es, [n]o, [l]ater: ")
        terminal.types("y")
        for typed, seen in (
            ("/new", "begins another conversation"),
            ("Again", "Three."),
            ("/nonsense", "There is no /nonsense"),
            ("/help", "Ctrl-D"),
        ):
            terminal.sees("> ")
            terminal.types(typed)
            terminal.sees(seen)
        terminal.sees("> ")  # before its prompt a program is sent no Ctrl-D, only the end of a line
        terminal.types("\x04")
        assert "Error" not in terminal.ends()
    metadata = {"client": "terminal", "project": "fitness"}
    assert gateway.asked == [
        Asked("Hello", metadata, None),
        Asked(" /stop", metadata, CONVERSATION),
        Asked("Again", metadata, None),
    ]
    assert gateway.stops == [CONVERSATION]
    assert gateway.decisions == {"q1": "approved"}


def test_an_id_that_is_none_is_said_before_anything_is_typed(
    starts: Starts, tmp_path: Path
) -> None:
    with Terminal(starts(), tmp_path, "--conversation", "a b") as terminal:
        terminal.sees("no id of a conversation")
        terminal.ends(2)


@pytest.mark.promise("P4-refuse")
def test_what_is_refused_is_said_and_the_conversation_goes_on(
    starts: Starts, tmp_path: Path
) -> None:
    gateway = starts(lambda line: line.send(*text("I was")), says(*text("Back.")))
    gateway.refused["/approvals"] = (503, {"error": "Storage is away."})
    with Terminal(gateway, tmp_path) as terminal:
        for typed, seen in (
            ("/approvals", "Error: Storage is away."),
            ("Hi", "without done or error"),
            ("Still there?", "Back."),
            ("/quit", ""),
        ):
            terminal.sees("> ")
            terminal.types(typed)
            terminal.sees(seen)
        terminal.ends()
    assert [asked.conversation_id for asked in gateway.asked] == [None, CONVERSATION]


def test_a_file_gets_the_words_alone_and_the_terminal_nothing_it_would_obey(
    starts: Starts, tmp_path: Path
) -> None:
    gateway = starts(says(*text("\x1b[2J", "Hello.\n")))
    with Terminal(gateway, tmp_path, piped=True) as terminal:
        terminal.sees("> ")
        terminal.types("Hi")
        terminal.sees("> ")
        terminal.types("\x04")
        terminal.ends()
        assert terminal.stdout == "\\u001b[2JHello.\n"
        assert "\x1b" not in without_modes(terminal.shown)


def test_as_json_a_question_is_still_asked_at_the_terminal(starts: Starts, tmp_path: Path) -> None:
    gateway = starts(asks_and_goes_on)
    with Terminal(gateway, tmp_path, "Note it", "--json", piped=True) as terminal:
        terminal.sees("[l]ater: ")
        terminal.types("y")
        terminal.ends()
        events = [json.loads(line)["event"] for line in terminal.stdout.splitlines()]
    assert events == [
        *("tool-call", "approval-request", "approval-result", "tool-result", "text-delta", "done")
    ]
