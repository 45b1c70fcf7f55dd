"""One question, many processes: one answer holds, and one process carries it out."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from judgment.conversation import store
from tests.fakes.owner_desk import T0, Desk
from tests.integration.conversation_child import children

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-approval", "R-30")

QUESTIONS = 30


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


@pytest.fixture
def asked(desk: Desk, who: uuid.UUID) -> list[str]:
    talk = desk.talk(who, ("user", "Write it"))
    return [str(desk.ask(who, talk).request_id) for _ in range(QUESTIONS)]


def test_of_two_answers_from_two_processes_one_holds(desk: Desk, who: uuid.UUID, asked: list[str]):
    url = desk.database.url("judgment_process")
    orders = (["decide", url, str(who), word, *asked] for word in ("approved", "denied"))
    with children(*orders) as (approved, denied):
        assert len(approved) == QUESTIONS
        assert [set(pair) for pair in zip(approved, denied, strict=True)] == [
            {"200", "409"}
        ] * QUESTIONS
    kept = {a["request_id"]: a["decision"] for a in desk.get(who, "/approvals")["approvals"]}
    assert [kept[request] for request in asked] == [
        "approved" if status == "200" else "denied" for status in approved
    ]


@pytest.mark.promise("AC-034")
def test_of_three_processes_that_find_the_answer_one_carries_it_out(
    desk: Desk, who: uuid.UUID, asked: list[str]
):
    for request in asked:
        assert desk.decide(who, request, "approved")[0] == 200
    order = ["settle", desk.database.url("judgment_process"), str(who), *asked]
    with children(order, order, order) as won:
        assert [sorted(words) for words in zip(*won, strict=True)] == [["0", "0", "1"]] * QUESTIONS
    assert desk.get(who, "/approvals") == {"approvals": []}


def test_a_settling_that_is_taken_back_leaves_the_call_to_the_next(
    desk: Desk, who: uuid.UUID, asked: list[str]
):
    """The effect failed, or the process died: settling and effect are one transaction."""
    request = uuid.UUID(asked[0])
    desk.decide(who, request, "approved")

    def carry_out(effect: int) -> float:
        with desk.postgres.transaction(who) as tx:
            assert store.settle(tx, who, request, T0)
            return 1 / effect

    with pytest.raises(ZeroDivisionError):
        carry_out(0)
    assert carry_out(1) == 1
