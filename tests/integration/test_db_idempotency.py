"""A request that comes again has its effect once and its first answer each time."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.db.connection import Database
from judgment.kit.errors import Conflict, InvalidRequest
from judgment.queue.idempotency import idempotent

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-1-idempotency")


class Desk:
    """Requests of one owner, and how often their effect happened."""

    def __init__(self, database: TestDatabase):
        self.url = database.url("judgment_owner")
        self.login = Database(self.url)
        self.user_id = uuid.uuid4()
        self.effects = 0
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("INSERT INTO auth.users (id) VALUES (%s)", (self.user_id,))

    def ask(
        self,
        key: str | None,
        body: Any = None,
        *,
        route: str = "POST /x",
        answer: tuple[int, Any] = (201, {"n": 1}),
        fails: bool = False,
    ) -> tuple[int, Any, bool]:
        def effect() -> tuple[int, Any]:
            self.effects += 1
            if fails:
                raise ZeroDivisionError
            return answer

        with self.login.transaction(self.user_id) as tx:
            return idempotent(tx, self.user_id, key, route, body, effect)


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.login.close()


def test_the_same_request_again_gets_the_same_answer_and_no_second_effect(desk: Desk) -> None:
    first = desk.ask("k", {"a": 1, "b": [2]}, answer=(201, {"id": "é", "list": [1, None]}))
    again = desk.ask("k", {"b": [2], "a": 1}, answer=(500, "never"))
    assert first == (201, {"id": "é", "list": [1, None]}, False)
    assert again == (201, {"id": "é", "list": [1, None]}, True)
    assert desk.effects == 1


def test_an_answer_without_a_body_is_kept_as_one(desk: Desk) -> None:
    assert desk.ask("k", answer=(204, None)) == (204, None, False)
    assert desk.ask("k", answer=(500, "never")) == (204, None, True)


@pytest.mark.parametrize("other", [{"a": 2}, None, b'{"a":1}', [], {"a": 1.5}])
def test_the_same_key_with_another_body_is_a_conflict(desk: Desk, other: Any) -> None:
    desk.ask("k", {"a": 1})
    with pytest.raises(Conflict, match="another request body"):
        desk.ask("k", other if not isinstance(other, bytes) else b"other bytes")
    assert desk.effects == 1


def test_keys_are_the_owners_and_the_routes_own(desk: Desk, module_database: TestDatabase) -> None:
    desk.ask("k", 1)
    assert desk.ask("k", 2, route="POST /y")[2] is False
    other = Desk(module_database)
    assert other.ask("k", 3)[2] is False
    other.login.close()


def test_without_a_key_each_request_has_its_effect(desk: Desk) -> None:
    assert desk.ask(None)[2] is False
    assert desk.ask(None)[2] is False
    assert desk.effects == 2


def test_a_failure_keeps_nothing_so_that_trying_again_works(desk: Desk) -> None:
    with pytest.raises(ZeroDivisionError):
        desk.ask("k", 1, fails=True)
    assert desk.ask("k", 1) == (201, {"n": 1}, False)


@pytest.mark.parametrize("key", ["", "x" * 256, "ü", "a\nb", "a\x00b"])
def test_a_key_out_of_form_is_refused(desk: Desk, key: str) -> None:
    with pytest.raises(InvalidRequest, match="Idempotency-Key"):
        desk.ask(key)
    assert desk.effects == 0


def test_two_at_once_have_one_effect_and_one_answer(desk: Desk) -> None:
    """The second waits inside Postgres until the first one's transaction is over."""
    inside, outcome = threading.Event(), list[tuple[int, Any, bool]]()

    def second() -> None:
        other = Database(desk.url)
        with other.transaction(desk.user_id) as tx:
            inside.set()
            outcome.append(idempotent(tx, desk.user_id, "k", "POST /x", 1, lambda: (500, "never")))
        other.close()

    def effect() -> tuple[int, Any]:
        thread.start()
        assert inside.wait(10)
        return 201, {"by": "the first"}

    thread = threading.Thread(target=second)
    with desk.login.transaction(desk.user_id) as tx:
        idempotent(tx, desk.user_id, "k", "POST /x", 1, effect)
    thread.join(10)
    assert outcome == [(201, {"by": "the first"}, True)]
