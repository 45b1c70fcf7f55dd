"""At most one regeneration in a window, and no move forgotten: the row in a real Postgres."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from judgment.db.connection import Database
from judgment.summary import debounce
from judgment.summary.model import Finished
from tests.fakes.people import make_owner

if TYPE_CHECKING:
    from judgment.summary.model import Claim, Due, Overdue
    from tests.databases import TestDatabase

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=10)
WRITTEN = Finished({"a": 0.5}, 12, None, 0)


class Row:
    """One owner's row, with a clock that the test moves."""

    def __init__(self, database: TestDatabase):
        self.owner = Database(database.url("judgment_owner"))
        self.worker = Database(database.url("judgment_worker"))
        self.user_id = make_owner(database)
        self.now = START

    def pass_time(self, **how_much: float) -> None:
        self.now += timedelta(**how_much)

    def request(self, correlation_id: str = "c", *, is_retry: bool = False) -> Due:
        with self.owner.transaction(self.user_id) as tx:
            return debounce.request(
                tx, self.user_id, correlation_id, self.now, WINDOW, is_retry=is_retry
            )

    def claim(self) -> Claim | None:
        with self.worker.transaction(self.user_id) as tx:
            return debounce.claim(tx, self.user_id, self.now)

    def next_look(self) -> datetime | None:
        with self.worker.transaction(self.user_id) as tx:
            return debounce.next_look(tx, self.user_id)

    def finish(self, claimed: Claim, finished: Finished | None = WRITTEN) -> bool:
        with self.worker.transaction(self.user_id) as tx:
            return debounce.finish(tx, self.user_id, claimed, finished, self.now)

    def overdue(self) -> list[Overdue]:
        with self.worker.transaction() as tx:
            found = debounce.overdue(tx, self.now, WINDOW)
        return [row for row in found if row.user_id == self.user_id]

    def close(self) -> None:
        self.owner.close()
        self.worker.close()


@pytest.fixture
def row(module_database: TestDatabase) -> Iterator[Row]:
    made = Row(module_database)
    yield made
    made.close()


def test_the_first_move_is_due_at_once_and_the_next_ones_wait_for_the_window(row: Row) -> None:
    due = row.request()
    assert (due.run_after, due.became_pending) == (START, True)
    assert row.request().became_pending is False
    claimed = row.claim()
    assert claimed
    assert (claimed.seq, claimed.correlation_id) == (2, "c")
    row.pass_time(seconds=3)
    late = row.request("later")
    assert (late.run_after, late.became_pending) == (START + WINDOW, True)
    assert row.finish(claimed)
    assert row.claim() is None
    assert row.next_look() == START + WINDOW
    row.pass_time(minutes=10)
    again = row.claim()
    assert again
    assert (again.seq, again.correlation_id) == (3, "later")
    assert row.finish(again)
    assert row.next_look() is None
    assert row.overdue() == []


def test_of_many_deliveries_one_claims(row: Row) -> None:
    row.request()
    assert [row.claim() is None for _ in range(4)] == [False, True, True, True]


def test_a_lost_wake_up_is_sent_again_after_a_grace(row: Row) -> None:
    row.request()
    row.pass_time(seconds=59)
    assert row.overdue() == []
    row.pass_time(seconds=1)
    assert [found.run_after for found in row.overdue()] == [START]
    assert row.claim()


def test_what_a_dead_worker_left_is_taken_up_after_its_lease_in_the_next_window(row: Row) -> None:
    row.request()
    dead = row.claim()
    assert dead
    row.pass_time(seconds=149)
    assert row.overdue() == []
    row.pass_time(seconds=1)
    assert [found.run_after for found in row.overdue()] == [START + WINDOW]
    assert row.claim() is None
    row.pass_time(minutes=10)
    successor = row.claim()
    assert successor
    assert row.finish(dead) is False
    assert row.finish(successor)
    assert row.finish(successor) is False


def test_a_slow_worker_may_finish_as_long_as_nobody_followed_it(row: Row) -> None:
    row.request()
    slow = row.claim()
    assert slow
    row.pass_time(minutes=5)
    assert row.overdue()
    assert row.finish(slow)
    row.pass_time(minutes=5)
    assert row.claim()


@pytest.mark.parametrize("hours", [1, 24 * 365])
def test_a_clock_moved_back_neither_forgets_a_move_nor_hurries_it(row: Row, hours: int) -> None:
    row.request()
    assert row.claim()
    row.pass_time(hours=-hours)
    moved_back = row.now
    due = row.request()
    assert due.run_after == moved_back + WINDOW + debounce.SLACK
    row.pass_time(minutes=11)
    claimed = row.claim()
    assert claimed
    assert row.finish(claimed)


def test_a_pending_move_that_a_clock_moved_back_put_far_off_is_pulled_in_by_the_sweep(
    row: Row,
) -> None:
    row.request()
    claimed = row.claim()
    assert claimed
    row.request()
    row.pass_time(hours=-5)
    assert [found.run_after for found in row.overdue()] == [row.now + WINDOW + debounce.SLACK]
    row.pass_time(minutes=11)
    assert row.claim()


def test_a_request_that_was_rolled_back_leaves_nothing(row: Row) -> None:
    with suppress(ZeroDivisionError), row.owner.transaction(row.user_id) as tx:
        debounce.request(tx, row.user_id, "c", row.now, WINDOW)
        raise ZeroDivisionError
    assert row.claim() is None


def test_an_owner_that_is_gone_has_nothing_to_claim_or_finish(row: Row) -> None:
    row.request()
    claimed = row.claim()
    assert claimed
    with row.owner.transaction(row.user_id) as tx:
        tx.execute("SELECT judgment.forget_owner()")
    assert row.claim() is None
    assert row.finish(claimed) is False
    assert row.overdue() == []


def test_the_sweep_takes_the_longest_waiting_first_and_so_many_at_once(
    fresh_database: TestDatabase,
) -> None:
    worker = Database(fresh_database.url("judgment_worker"))
    owners: list[uuid.UUID] = []
    for minute in range(3):
        row = Row(fresh_database)
        row.now = START + timedelta(minutes=minute)
        row.request()
        owners.append(row.user_id)
        row.close()
    now = START + timedelta(minutes=10)
    with worker.transaction() as tx:
        found = debounce.overdue(tx, now, WINDOW, limit=2)
    worker.close()
    assert sorted(o.user_id for o in found) == sorted(owners[:2])
