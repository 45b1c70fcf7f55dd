"""The strict checker of `POST /message`, its stream and approvals (reference §1, §10; ruling 41).

Each function holds a running server to one shape, by literal keys and values, not by our models.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tests.e2e.exactly import ANYTHING, TIME, Matching, exactly, is_uuid
from tests.fakes.model_wire import Fail

if TYPE_CHECKING:
    from tests.e2e.somebody import Somebody
    from tests.e2e.talker import Talker, Told

INVALID = {"error": "Invalid request"}
FAILURE = {"code": str, "message": str, "recoverable": True}
NOTE = "documents/fitness/note.md"
WRITE = ("memory_write", {"path": NOTE, "content": "Run on Mondays.\n"})
EVENTS: dict[str, dict[str, Any]] = {
    "text-delta": {"delta": str},
    "tool-call": {"id": str, "name": str, "input": dict},
    "tool-result": {"id": str, "status": Matching("ok|denied|error"), "output": ANYTHING},
    "approval-request": {"request_id": str, "tool_name": str, "summary": str},
    "approval-result": {"request_id": str, "decision": Matching("approved|denied")},
    "done": {"conversation_id": str, "message_id": str, "finish_reason": str},
    "error": {
        "code": Matching("provider_error|tool_error|context_overflow"),
        "message": str,
    },
}
FRAME = re.compile(rb"event: ([a-z-]+)\ndata: (\{[^\n]*\})\n\n|: [^\n]*\n\n")
OF_THE_GATEWAY = {"date", "server", "transfer-encoding", "x-amzn-requestid", "x-correlation-id"}
"""Of the way here, not of the answer: API Gateway adds as many of its own."""

ACCEPTED: tuple[bytes, ...] = (
    b'{"content": " "}',
    b'{"content": "Hi", "metadata": {}}',
    b'{"content": "Hi", "metadata": null}',
    b'{"content": "Hi", "metadata": {"client": "web", "project": "fitness"}}',
    b'{"content": "Hi", "metadata": {"client": "web", "retry_of_message_id": "m", '
    b'"retry_reason": "interrupted"}}',
    b'{"content": "Hi", "stream": true, "process": {"action": "start"}}',
    b'{"content": "Hi", "metadata": {"project": "no-such-page"}}',
)
REFUSED: tuple[bytes, ...] = (
    b"",
    b"Hello",
    b"[]",
    b'"Hello"',
    b"{}",
    b'{"content": ""}',
    b'{"content": null}',
    b'{"content": 1}',
    b'{"content": ["Hi"]}',
    b'{"message": "Hi"}',
    b'{"content": "Hi", "metadata": "web"}',
    b'{"content": "Hi", "metadata": []}',
    b'{"content": "Hi", "metadata": {"client": ""}}',
    b'{"content": "Hi", "metadata": {"project": ""}}',
    b'{"content": "Hi", "metadata": {"project": 1}}',
    b'{"content": "Hi", "metadata": {"model": "x"}}',
    b'{"content": "Hi", "metadata": {"client": "web", "Project": "fitness"}}',
)


def check_requests(talker: Talker) -> None:
    """What is a message, and what is none: 400 with the one body, and nothing is written."""
    for body in ACCEPTED:
        told = talker.post(body)
        assert told.status == 200, (body, told.raw)
        assert told.last.type == "done"
    total = _total(talker.me)
    assert total == len(ACCEPTED)
    for body in REFUSED:
        told = talker.post(body)
        assert (told.status, told.body) == (400, INVALID), (body, told.raw)
        assert told.headers["content-type"].partition(";")[0] == "application/json"
    assert _total(talker.me) == total


def check_unknown_conversations(talker: Talker, stranger: Somebody) -> None:
    """404 with the one body before anything is written; ids that lead elsewhere are unknown too."""
    theirs = str(uuid4())
    mine = talker.say().conversation
    total = _total(talker.me)
    ids = (theirs, f"../{mine}", f"{mine}.md", "index", "..%2f", mine.upper(), "x" * 200)
    for unknown in ids:
        told = talker.say(content="Lost", to=unknown)
        assert (told.status, told.body) == (404, {"error": "Conversation not found"}), unknown
    assert stranger.ask("GET", f"/conversations/{mine}", status=404) == {
        "error": "Conversation not found"
    }
    assert _total(talker.me) == total
    kept = talker.me.ask("GET", f"/conversations/{mine}")["messages"]
    assert [message["content"] for message in kept] == ["Hello", "Well."]


def check_credentials(talker: Talker) -> None:
    """No token, a wrong one and an agent's key are 401."""
    for headers in ({}, {"Authorization": "Bearer nonsense"}, talker.me.agent):
        for method, path in (("POST", "/message"), ("GET", "/conversations"), ("GET", "/projects")):
            answer = talker.me.api.request(
                method, path, headers=headers, json={"content": "Hi"} if method == "POST" else None
            )
            assert answer.status_code == 401, (path, answer.text)
            assert answer.json()["error"] == "Unauthorized"


def check_head(talker: Talker) -> None:
    """The headers of a stream. API Gateway lets no integration set `connection`; it renames it."""
    told = talker.say()
    headers = dict(told.headers)
    kept = headers.pop("x-amzn-remapped-connection", None) or headers.pop("connection", None)
    assert kept == "keep-alive"
    assert headers.pop("content-type") == "text/event-stream"
    assert headers.pop("cache-control") == "no-cache"
    assert is_uuid(headers.pop("x-conversation-id"))
    assert headers.keys() <= OF_THE_GATEWAY, headers
    again = talker.say(to=told.conversation)
    assert again.headers["x-conversation-id"] == told.conversation


def check_frames(told: Told) -> None:
    """Every byte of a stream: names, fields, form. The order was checked while it came."""
    at = 0
    while at < len(told.raw):
        found = FRAME.match(told.raw, at)
        assert found is not None, told.raw[at : at + 200]
        at = found.end()
        if found[1] is None:
            continue
        name = found[1].decode()
        fields = json.loads(found[2])
        exactly(fields, EVENTS[name], name)


def check_done(talker: Talker) -> None:
    """Text in pieces, then `done` that names what was stored last."""
    told = talker.say("It is well.")
    check_frames(told)
    assert set(told.types[:-1]) == {"text-delta"}
    assert "".join(event.delta for event in told.events[:-1]) == "It is well."  # type: ignore[union-attr]
    assert told.last.type == "done"
    assert told.last.conversation_id == told.conversation
    assert told.last.finish_reason == "stop"
    kept = talker.me.ask("GET", f"/conversations/{told.conversation}")["messages"]
    assert told.last.message_id == kept[-1]["id"]
    assert kept[-1]["content"] == "It is well."


def check_error(talker: Talker) -> None:
    """A provider in trouble: one `error`, no `done`; the message is kept, its page has it."""
    told = talker.say(*[Fail(401, "wrong key")] * 3, content="Lost?", page="career")
    check_frames(told)
    assert told.types == ["error"]
    assert told.last.code == "provider_error"
    kept = talker.me.ask("GET", f"/conversations/{told.conversation}")["messages"]
    assert [(m["role"], m["content"]) for m in kept] == [("user", "Lost?")]
    pages = talker.me.ask("GET", "/projects")["projects"]
    attached = {page["id"]: page["conversation_id"] for page in pages}
    assert attached["career"] == told.conversation


def check_no_provider(me: Somebody) -> None:
    """Where no model is set up: 503 that says what to set, and nothing is written."""
    body = {"content": "Anybody?"}
    answer = me.api.post("/message", json=body, headers=me.headers)
    assert answer.status_code == 503, answer.text
    exactly(answer.json(), {"error": Matching(".*MODEL_MESSAGE.*")})
    assert _total(me) == 0


def check_tool_turn(talker: Talker) -> None:
    """Each call: `tool-call`, `tool-result`; then the model speaks again."""
    told = talker.say(("memory_read", {"path": "me/todo.md"}), ("memory_list", {}), "Read.")
    check_frames(told)
    assert told.types[:4] == ["tool-call", "tool-result", "tool-call", "tool-result"]
    assert set(told.types[4:-1]) == {"text-delta"}
    first, result = told.events[:2]
    assert first.type == "tool-call"
    assert result.type == "tool-result"
    assert (first.name, first.input) == ("memory_read", {"path": "me/todo.md"})
    assert (result.id, result.status) == (first.id, "ok")


def check_approvals(talker: Talker) -> None:
    """In `ask-on-write` the stream asks, waits, and goes on with the decision."""
    me = talker.me
    mode = me.ask("PUT", "/approvals/mode", {"approval_mode": "ask-on-write"})
    assert mode == {"approval_mode": "ask-on-write"} == me.ask("GET", "/approvals/mode")
    for decision in ("denied", "approved"):
        seen: list[str] = []

        def decide(event: Any, decision: str = decision, seen: list[str] = seen) -> None:
            if event.type == "approval-request":
                seen.append(event.request_id)
                _decide(me, event.request_id, decision)

        told = talker.say(WRITE, on_event=decide)
        check_frames(told)
        assert told.types[:4] == [
            *("tool-call", "approval-request", "approval-result", "tool-result")
        ]
        call, asked, answered, result = told.events[:4]
        assert asked.model_dump() == {
            "type": "approval-request",
            "request_id": seen[0],
            "tool_name": "memory_write",
            "summary": f"memory_write on {NOTE}",
        }
        assert answered.model_dump(exclude={"type"}) == {
            "request_id": seen[0],
            "decision": decision,
        }
        output = (
            {"reason": "Denied by owner"}
            if decision == "denied"
            else {"path": NOTE, "bytes_written": 16}
        )
        status = "denied" if decision == "denied" else "ok"
        assert result.model_dump(exclude={"type"}) == {
            "id": call.model_dump()["id"],
            "status": status,
            "output": output,
        }
    assert me.ask("GET", "/approvals") == {"approvals": []}


def _decide(me: Somebody, request_id: str, decision: str) -> None:
    """Every body of the route on the way to one decision."""
    (one,) = me.ask("GET", "/approvals")["approvals"]
    shape = {
        "request_id": request_id,
        "conversation_id": str,
        "tool_name": "memory_write",
        "summary": f"memory_write on {NOTE}",
        "decision": "pending",
        "created_at": TIME,
    }
    exactly(one, shape)
    path = f"/approvals/{request_id}"
    for wrong in (
        {},
        {"decision": "yes"},
        {"decision": "pending"},
        {"decision": "approved", "a": 1},
    ):
        assert me.ask("POST", path, wrong, 400) == INVALID
    not_found = {"error": "Approval request not found"}
    assert me.ask("POST", f"/approvals/{uuid4()}", {"decision": decision}, 404) == not_found
    assert me.ask("POST", "/approvals/nonsense", {"decision": decision}, 404) == not_found
    answer = {"request_id": request_id, "decision": decision}
    assert me.ask("POST", path, {"decision": decision}) == answer


def check_late_answers(talker: Talker) -> None:
    """A denied request that is settled is gone; the same answer twice is the same, another 409."""
    me = talker.me
    me.ask("PUT", "/approvals/mode", {"approval_mode": "ask-on-write"})
    other = {"approved": "denied", "denied": "approved"}

    def twice(decision: str) -> str:
        seen: list[str] = []

        def decide(event: Any) -> None:
            if event.type == "approval-request":
                seen.append(event.request_id)
                path = f"/approvals/{event.request_id}"
                me.ask("POST", path, {"decision": decision})

        talker.say(WRITE, on_event=decide)
        return f"/approvals/{seen[0]}"

    approved = twice("approved")
    answer = me.ask("POST", approved, {"decision": "approved"})
    assert answer["decision"] == "approved"
    refused = me.ask("POST", approved, {"decision": other["approved"]}, 409)
    assert refused == {"error": "Approval request already decided"}
    denied = twice("denied")
    for decision in other:
        gone = me.ask("POST", denied, {"decision": decision}, 404)
        assert gone == {"error": "Approval request not found"}


def _total(me: Somebody) -> int:
    return me.ask("GET", "/conversations")["total"]
