"""`judgment chat MESSAGE`: one turn, words on stdout, all else in short lines on stderr."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgment.contract import messages as wire
from tests.fakes.message_gateway import CONVERSATION, HEARTBEAT, Asked, MessageGateway, Wire, says
from tests.unit.cli.chat.terminals import chat

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.chat.conftest import Starts

pytestmark = pytest.mark.promise("P4-chat", "AC-034", "FR-018")

CALL = wire.ToolCall(id="c", name="memory_read", input={"path": "me/todo.md"})
READ = wire.ToolResult(id="c", status="ok", output={"path": "me/todo.md", "content": "# Todo"})
WRITE = wire.ToolCall(
    id="w", name="memory_write", input={"path": "documents/fitness/note.md", "content": "Run."}
)
WROTE = wire.ToolResult(
    id="w", status="ok", output={"path": "documents/fitness/note.md", "bytes_written": 4}
)
ASKS = wire.ApprovalRequest(
    request_id="q1",
    tool_name="memory_write",
    summary="memory_write on documents/fitness/note.md",
)


def text(*pieces: str) -> list[wire.AnyEvent]:
    return [wire.TextDelta(delta=piece) for piece in pieces]


def asks_and_goes_on(line: Wire) -> None:
    """A write that waits for the owner, and a word on what they decided."""
    line.send(WRITE, ASKS)
    line.write(HEARTBEAT)
    decision: Any = line.decided("q1")
    line.send(wire.ApprovalResult(request_id="q1", decision=decision))
    denied = wire.ToolResult(id="w", status="denied", output={"reason": "Denied by owner"})
    line.send(WROTE if decision == "approved" else denied, *text(f"So it is {decision}."))
    line.done()


def test_words_go_to_stdout_as_they_are_and_nothing_else_does(starts: Starts) -> None:
    gateway = starts(says(*text("Hel", "lo,\n\tyou", "."), CALL, READ, *text("Bye.")))
    said = chat(gateway, "Hi", "--project", "fitness")
    assert said.out == "Hello,\n\tyou.\nBye.\n"
    assert said.err == f"* memory_read on me/todo.md: done\nConversation {CONVERSATION}\n"
    assert gateway.asked == [Asked("Hi", {"client": "terminal", "project": "fitness"}, None)]


def test_a_blank_is_a_message_and_a_conversation_goes_on(starts: Starts) -> None:
    gateway = starts(says(*text("Yes.\n")))
    assert chat(gateway, " ", "--conversation", CONVERSATION).out == "Yes.\n"
    assert gateway.asked == [Asked(" ", {"client": "terminal"}, CONVERSATION)]


def test_as_json_every_event_is_a_line_as_it_was_received(starts: Starts) -> None:
    events = [*text("H\u00e9 \u202e\x1b[2J"), CALL, READ]
    said = chat(starts(says(*events)), "Hi", "--json")
    assert said.out.isprintable() or set(filter(lambda c: not c.isprintable(), said.out)) == {"\n"}
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert lines[:-1] == [{"event": one.type, "data": one.model_dump(exclude={"type"})}
                          for one in events]  # fmt: skip
    assert lines[-1]["event"] == "done"
    assert '{"delta":' not in said.err


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\x9b31m",
        "a\rb",
        "\u202egnp.exe",
        "\x08\x08",
        "\ud83d",
        "\u2028",
    ],
)
def test_no_word_of_a_model_or_name_of_a_file_steers_the_terminal(
    starts: Starts, hostile: str
) -> None:
    call = wire.ToolCall(id="c", name=hostile, input={"path": hostile + "\nApproved."})
    failure = {"code": hostile, "message": hostile, "recoverable": True}
    failed = wire.ToolResult(id="c", status="error", output=failure)

    def script(line: Wire) -> None:
        """As JSON escapes, so that half a character can be sent too."""
        for event in (*text(hostile, hostile), call, failed, error):
            data = json.dumps(event.model_dump(exclude={"type"}))
            line.write(f"event: {event.type}\ndata: {data}\n\n".encode())

    error = wire.Failed(code="provider_error", message=hostile)
    said = chat(starts(script), "Hi", code=1)
    for written in (said.out, said.err):
        assert all(c == "\n" or c.isprintable() for c in written), written
        assert hostile not in written
    assert "\nApproved." not in said.err
    assert said.out.count("\\u") >= 2


@pytest.mark.parametrize(("approve", "decision"), [("yes", "approved"), ("no", "denied")])
@pytest.mark.promise("P4-approval")
def test_a_script_says_beforehand_what_becomes_of_writes(
    starts: Starts, approve: str, decision: str
) -> None:
    gateway = starts(asks_and_goes_on)
    said = chat(gateway, "Note it", "--approve", approve)
    assert gateway.decisions == {"q1": decision}
    assert said.out == f"So it is {decision}.\n"
    asked, decided, became, _ = said.err.splitlines()
    assert asked == "? memory_write on documents/fitness/note.md (29 characters): approve?"
    assert decided == f"* {decision}"
    ending = "done" if decision == "approved" else "denied"
    assert became == f"* memory_write on documents/fitness/note.md: {ending}"


@pytest.mark.promise("P4-approval", "R-30")
def test_a_turn_that_could_not_wait_says_what_is_open_and_the_next_one_what_became_of_it(
    starts: Starts,
) -> None:
    def cannot_wait(line: Wire) -> None:
        line.send(WRITE, ASKS)
        line.done("awaiting_approval")

    settled = [wire.ApprovalResult(request_id="q1", decision="approved"), WROTE]
    gateway = starts(cannot_wait, says(*settled, *text("Done.")))
    first = chat(gateway, "Note it")
    assert "It waits for your answer." in first.err
    assert f"{ASKS.summary} in conversation {CONVERSATION} waits for your answer." in first.err
    assert gateway.decisions == {}
    second = chat(gateway, "Well?", "--conversation", CONVERSATION)
    assert second.out == "Done.\n"
    assert second.err.splitlines()[:2] == [
        "* approved, as you decided earlier",
        "* the call on documents/fitness/note.md: done",
    ]


def test_a_decision_that_comes_too_late_is_said_and_the_stream_goes_on(starts: Starts) -> None:
    gateway = starts(asks_and_goes_on)
    gateway.decisions["q1"] = "denied"
    said = chat(gateway, "Note it", "--approve", "yes")
    assert "Error: Approval request already decided" in said.err
    assert said.out == "So it is denied.\n"


@pytest.mark.promise("P4-provider-errors")
def test_an_error_ends_in_its_words_and_status_1(starts: Starts) -> None:
    error = wire.Failed(code="provider_error", message="The model cannot be reached.")
    said = chat(starts(says(*text("I was"), error)), "Hi", code=1)
    assert said.out == "I was\n"
    assert "Error: The model cannot be reached. (provider_error)\n" in said.err
    assert said.err.endswith(f"Conversation {CONVERSATION}\n")


def test_the_warning_that_the_context_runs_full_is_passed_on(starts: Starts) -> None:
    gateway = starts(says())
    gateway.headers["x-context-window-message"] = "Nearly full."
    assert "Note: Nearly full.\n" in chat(gateway, "Hi").err


def test_the_stack_file_names_the_owner(starts: Starts, tmp_path: Path) -> None:
    from tests.fakes.message_gateway import TOKEN

    gateway = starts(says(*text("One.")), says(*text("Two.")))
    who = {"agent_key": "sync_k", "owner_token": TOKEN}
    stack = tmp_path / "stack.json"
    stack.write_text(json.dumps({"api_url": gateway.url, "owners": {"demo": who, "cold": who}}))
    nowhere = {"SYNC_API_URL": "", "SYNC_OWNER_TOKEN": ""}
    assert chat(gateway, "Hi", "--stack", str(stack), **nowhere).out == "One.\n"
    assert chat(gateway, "Hi", **nowhere, JUDGMENT_STACK=str(stack)).out == "Two.\n"
    nobody = chat(gateway, "Hi", "--stack", str(stack), "--owner", "nobody", code=2)
    assert "nobody" in nobody.err


def test_nothing_is_kept_on_disk(starts: Starts, tmp_path: Path) -> None:
    home = str(tmp_path)
    chat(starts(says(*text("Hello."))), "Hi", HOME=home, XDG_DATA_HOME=home, XDG_CACHE_HOME=home)
    assert list(tmp_path.rglob("*")) == []


def _cut(line: Wire) -> None:
    line.send(*text("I was"))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (_cut, "ended without done or error"),
        (lambda line: line.write(b"event: news\ndata: {}\n\n"), "does not have"),
        (lambda line: line.send(READ), "tool-result: it may not come here"),
        (
            lambda line: line.send(
                wire.Done(conversation_id="another", message_id="m", finish_reason="stop")
            ),
            "another conversation",
        ),
    ],
)
def test_a_server_that_does_not_speak_as_agreed_is_told_so(
    starts: Starts, script: Any, said: str
) -> None:
    found = chat(starts(script), "Hi", code=1)
    assert said in found.err
    assert f"Conversation {CONVERSATION}\n" in found.err


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "application/json"},
        {"x-conversation-id": None},
        {"x-conversation-id": "another"},
    ],
)
def test_a_head_that_is_not_as_agreed_is_told_so(starts: Starts, headers: dict[str, Any]) -> None:
    gateway = starts(says(*text("Hello.")))
    gateway.headers = headers
    found = chat(gateway, "Hi", "--conversation", CONVERSATION, code=1)
    assert "does not speak as agreed" in found.err
    assert found.out == ""


@pytest.mark.promise("P4-refuse", "R-41")
@pytest.mark.parametrize(
    ("status", "body", "code", "said"),
    [
        (503, {"error": "Set MODEL_MESSAGE."}, 1, "Error: Set MODEL_MESSAGE."),
        (404, {"error": "Conversation not found"}, 1, "Error: Conversation not found"),
        (400, {"error": "Invalid request"}, 2, "Error: Invalid request"),
        (413, {"code": "too_large", "message": "Too large."}, 2, "Error: Too large."),
        (401, {"code": "unauthorized", "message": "No key."}, 1, "The owner's token is missing"),
        (200, b"<html>", 1, "does not speak as agreed"),
        (302, b"", 1, "unknown answer (302)"),
        (502, b"\xff", 1, "unknown answer (502)"),
        (500, {"error": "\x1b[2J"}, 1, "Error: "),
    ],
)
def test_a_refusal_is_one_sentence(
    starts: Starts, status: int, body: Any, code: int, said: str
) -> None:
    gateway: MessageGateway = starts()
    gateway.refused["/message"] = (status, body)
    found = chat(gateway, "Hi", code=code)
    assert said in found.err
    assert "\x1b" not in found.err
    assert found.out == ""


@pytest.mark.parametrize(
    ("words", "more", "said"),
    [
        (["Hi", "--conversation", "a b"], {}, "no id of a conversation"),
        (["Hi", "--conversation", ""], {}, "no id of a conversation"),
        (["Hi", "--approve", "maybe"], {}, "maybe"),
        ([], {}, "at a terminal"),
        (["Hi"], {"SYNC_OWNER_TOKEN": "", "SYNC_API_KEY": "sync_k"}, "SYNC_OWNER_TOKEN"),
        (["Hi"], {"SYNC_OWNER_TOKEN": ""}, "SYNC_OWNER_TOKEN"),
        (["Hi"], {"SYNC_API_URL": "http://[::"}, "not a URL"),
    ],
)
def test_a_mistake_is_status_2_and_nothing_is_sent(
    starts: Starts, words: list[str], more: dict[str, str], said: str
) -> None:
    gateway = starts(says())
    assert said in chat(gateway, *words, code=2, **more).err
    assert gateway.asked == []


def test_a_token_is_not_sent_in_the_clear(starts: Starts) -> None:
    found = chat(starts(), "Hi", code=1, SYNC_API_URL="http://api.example")
    assert "https://" in found.err


def test_a_server_that_is_not_there_is_said(starts: Starts) -> None:
    found = chat(starts(), "Hi", code=1, SYNC_API_URL="http://127.0.0.1:1")
    assert "127.0.0.1 cannot be reached" in found.err
