"""Approvals and their mode through the door: answered once, late, by their owner alone."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.conversation import modes
from judgment.conversation.modes import approval_mode
from judgment.kit.clock import utc_now
from judgment.memory import files
from judgment.memory.model import Change
from tests.fakes.owner_desk import Desk
from tests.fakes.people import run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-approval", "R-30")

MISSING = (404, {"error": "Approval request not found"})
DECIDED = (409, {"error": "Approval request already decided"})
MODE = "preferences/default.json"


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


def settings(desk: Desk, who: uuid.UUID, content: bytes | None) -> None:
    """The settings' file, with whatever in it."""
    desk.get(who, "/projects")
    with desk.postgres.transaction(who) as tx:
        files.commit(
            tx,
            who,
            [Change(MODE, content)],
            origin="import",
            author="Somebody <s@example.com>",
            message="Import",
            at=utc_now(),
        )


@pytest.mark.promise("AC-034")
@pytest.mark.parametrize("decision", ["approved", "denied"])
def test_the_same_answer_again_is_answered_the_same(desk: Desk, who: uuid.UUID, decision: str):
    asked = desk.ask(who, desk.talk(who, ("user", "Write it")))
    answer = (200, {"request_id": str(asked.request_id), "decision": decision})
    assert desk.decide(who, asked.request_id, decision) == answer
    assert desk.decide(who, asked.request_id, decision) == answer
    assert desk.decide(who, str(asked.request_id).upper(), decision) == answer


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(("first", "second"), [("approved", "denied"), ("denied", "approved")])
def test_another_answer_is_refused_and_changes_nothing(
    desk: Desk, who: uuid.UUID, first: str, second: str
):
    asked = desk.ask(who, desk.talk(who, ("user", "Write it")))
    desk.decide(who, asked.request_id, first)
    assert desk.decide(who, asked.request_id, second) == DECIDED
    (shown,) = desk.get(who, "/approvals")["approvals"]
    assert shown["decision"] == first


def test_what_was_carried_out_is_still_approved_and_what_was_denied_is_gone(
    desk: Desk, who: uuid.UUID
):
    talk = desk.talk(who, ("user", "Write it"))
    done, given_up = desk.ask(who, talk), desk.ask(who, talk)
    desk.decide(who, done.request_id, "approved")
    desk.decide(who, given_up.request_id, "denied")
    assert desk.settle(who, done)
    assert desk.settle(who, given_up)
    assert desk.decide(who, done.request_id, "approved")[0] == 200
    assert desk.decide(who, done.request_id, "denied") == DECIDED
    assert desk.decide(who, given_up.request_id, "denied") == MISSING
    assert desk.decide(who, given_up.request_id, "approved") == MISSING
    assert desk.get(who, "/approvals") == {"approvals": []}


def test_a_call_is_settled_once_and_not_before_it_is_decided(desk: Desk, who: uuid.UUID):
    asked = desk.ask(who, desk.talk(who, ("user", "Write it")))
    assert not desk.settle(who, asked)
    desk.decide(who, asked.request_id, "approved")
    assert [desk.settle(who, asked) for _ in range(3)] == [True, False, False]


@pytest.mark.promise("P4-refuse")
def test_another_owner_is_told_that_there_is_no_such_question(desk: Desk, who: uuid.UUID):
    asked = desk.ask(who, desk.talk(who, ("user", "Write it")))
    stranger = desk.somebody()
    assert desk.decide(stranger, asked.request_id, "approved") == MISSING
    assert desk.get(stranger, "/approvals") == {"approvals": []}
    assert not desk.settle(stranger, asked)
    assert desk.get(who, "/approvals")["approvals"][0]["decision"] == "pending"


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    "named", ["nothing", "..%2f", "a%00", "{}", "3f2a", "1b4e28ba-2fa1-11d2-883f-0016d3cca427"]
)
def test_a_question_that_was_never_put_is_not_found(desk: Desk, who: uuid.UUID, named: str):
    assert desk.decide(who, named, "approved") == MISSING


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("decision", ["pending", "Approved", "", None, True, ["approved"]])
def test_an_answer_is_one_of_two_words(desk: Desk, who: uuid.UUID, decision: Any):
    asked = desk.ask(who, desk.talk(who, ("user", "Write it")))
    refused = desk.decide(who, asked.request_id, decision)
    assert refused == (400, {"error": "Invalid request"})
    assert desk.get(who, "/approvals")["approvals"][0]["decision"] == "pending"


def test_open_questions_outlive_the_process_that_asked(desk: Desk, who: uuid.UUID):
    one, two = (desk.talk(who, ("user", text)) for text in ("One", "Two"))
    first, second = desk.ask(who, one), desk.ask(who, two, path="documents/x é.md")
    desk.decide(who, second.request_id, "approved")
    later = Desk(desk.database)
    shown = later.get(who, "/approvals")["approvals"]
    assert [(a["request_id"], a["conversation_id"], a["decision"]) for a in shown] == [
        (str(first.request_id), one, "pending"),
        (str(second.request_id), two, "approved"),
    ]
    assert shown[1]["tool_name"] == "memory_write"
    assert shown[1]["summary"] == "memory_write on documents/x é.md"
    assert later.decide(who, first.request_id, "denied")[0] == 200
    later.close()


@pytest.mark.promise("P4-approval-mode", "AC-034")
def test_writes_are_approved_by_themselves_until_the_owner_says_otherwise(
    desk: Desk, who: uuid.UUID
):
    assert desk.get(who, "/approvals/mode") == {"approval_mode": "auto-approve"}
    for mode in ("ask-on-write", "ask-on-write", "auto-approve"):
        assert desk.put(who, "/approvals/mode", {"approval_mode": mode}) == {"approval_mode": mode}
        assert desk.get(who, "/approvals/mode") == {"approval_mode": mode}
    owners = [said for origin, _, said in desk.commits(who) if origin == "owner"]
    assert owners == [f"Update {MODE} via UI"] * 2
    texts = [content and content.decode() for content in desk.history(who, MODE)]
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.promise("P4-approval-mode", "P4-refuse")
@pytest.mark.parametrize("mode", ["ask", "", None, "AUTO-APPROVE", 1])
def test_there_are_two_modes(desk: Desk, who: uuid.UUID, mode: Any):
    refused = desk.call(who, "PUT", "/approvals/mode", {"approval_mode": mode})
    assert refused == (400, {"error": "Invalid request"})


DAMAGED = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"auto-approve"',
    b'{"approval_mode": "auto-approve"',
    b'{"approval_mode": "auto-approve"} x',
    b'{"approval_mode": "ask-on-write", "approval_mode": "auto-approve"}',
    b'\xef\xbb\xbf{"approval_mode": "auto-approve"}',
    b'{"approval_mode": "auto-approve", "x": NaN}',
    b'{"approval_mode": "auto-approve", "x": "\xff"}',
    b'{"approval_mode": "auto-approve", "x": ' + b"[" * 100_000 + b"}",
)
OTHER = (
    b"{}",
    b'{"approval_mode": "Auto-approve"}',
    b'{"approval_mode": true}',
    b'{"approval_mode": ["auto-approve"]}',
    b'{"nested": {"approval_mode": "auto-approve"}}',
)


@pytest.mark.promise("P4-approval-mode")
@pytest.mark.parametrize("content", [None, *DAMAGED, *OTHER], ids=range(len(DAMAGED + OTHER) + 1))
def test_settings_that_do_not_say_it_let_nothing_through(
    desk: Desk, who: uuid.UUID, content: bytes | None
):
    settings(desk, who, content)
    assert desk.get(who, "/approvals/mode") == {"approval_mode": "ask-on-write"}
    with desk.postgres.transaction(who) as tx:
        assert approval_mode(tx, who) == "ask-on-write"


@pytest.mark.promise("P4-approval-mode")
@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_settings_are_replaced_and_kept_in_their_history(
    desk: Desk, who: uuid.UUID, content: bytes
):
    settings(desk, who, content)
    desk.put(who, "/approvals/mode", {"approval_mode": "auto-approve"})
    assert desk.get(who, "/approvals/mode") == {"approval_mode": "auto-approve"}
    assert desk.history(who, MODE)[1:] == [content, b'{\n  "approval_mode": "auto-approve"\n}\n']


WRITTEN = (
    (
        '{"a": 1.10, "approval_mode" :\t"auto-approve", "b": {"approval_mode": 1}}',
        '{"a": 1.10, "approval_mode" :\t"ask-on-write", "b": {"approval_mode": 1}}',
    ),
    ('{"approval\\u005fmode": {"x": "}"}}\r\n', '{"approval\\u005fmode": "ask-on-write"}\r\n'),
    ("{}", '{\n  "approval_mode": "ask-on-write"\n}'),
    ('{"x": "approval_mode"}', '{"approval_mode": "ask-on-write", "x": "approval_mode"}'),
    (
        '{\n\t"n": 1e30,\n\t"l": [{}]\n}\n',
        '{\n\t"approval_mode": "ask-on-write",\n\t"n": 1e30,\n\t"l": [{}]\n}\n',
    ),
)


@pytest.mark.promise("P4-approval-mode")
@pytest.mark.parametrize(("before", "after"), WRITTEN)
def test_everything_else_in_the_settings_stays_as_it_was_written(
    desk: Desk, who: uuid.UUID, before: str, after: str
):
    settings(desk, who, before.encode())
    desk.put(who, "/approvals/mode", {"approval_mode": "ask-on-write"})
    assert desk.history(who, MODE)[-1] == after.encode()


def scalars() -> st.SearchStrategy[Any]:
    """Whatever may stand in JSON, but for objects and lists."""
    return st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(
    st.dictionaries(
        st.text() | st.just("approval_mode"),
        st.recursive(scalars(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)),
    ),
    st.none() | st.integers(0, 4),
    st.booleans(),
)
@pytest.mark.promise("P4-approval-mode")
def test_a_mode_changes_its_own_field_and_no_other(
    fields: dict[str, Any], indent: int | None, ascii_only: bool
):
    before = json.dumps(fields, indent=indent, ensure_ascii=ascii_only)
    after = json.loads(modes.with_mode(before, "ask-on-write"))
    assert after.pop("approval_mode") == "ask-on-write"
    assert repr(after) == repr(
        {name: value for name, value in json.loads(before).items() if name != "approval_mode"}
    )


def test_approvals_go_with_their_conversation(desk: Desk, who: uuid.UUID):
    desk.ask(who, desk.talk(who, ("user", "Write it"), name="gone"))
    run_as_admin(desk.database, "DELETE FROM judgment.conversations WHERE id = 'gone'")
    assert desk.get(who, "/approvals") == {"approvals": []}
