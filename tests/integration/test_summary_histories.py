"""No history of moves, deliveries, deaths, sweeps and moved clocks breaks the debounce."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from judgment.db.connection import Database
from judgment.summary import debounce
from judgment.summary.model import Finished
from tests.fakes.people import make_owner

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.summary.model import Claim
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-5-debounce")

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WINDOWS = [timedelta(minutes=10), timedelta(minutes=1)]
"""Longer and shorter than the lease."""
PASSING = [0.001, 1, 30, 59, 61, 149, 151, 300, 599, 601, 4_000]
JUMPS = [1, 45, 61, 600, 90_000, 40_000_000]
WRITTEN = Finished({}, 1, None, 0)


@dataclass
class Held:
    """A claim in somebody's hands, since a true moment."""

    claim: Claim
    since: timedelta


class Debounce(RuleBasedStateMachine):
    """One owner's row under test. `true` is the time that really passed, `clock` what is shown."""

    window: timedelta
    database: TestDatabase
    owner: Database
    worker: Database

    def __init__(self) -> None:
        super().__init__()
        self.user_id = make_owner(self.database)
        self.clock, self.true = START, timedelta()
        self.held: list[Held] = []
        self.claimed_at: list[timedelta] = []
        self.moves, self.covered = 0, 0

    @rule()
    def move(self) -> None:
        with self.owner.transaction(self.user_id) as tx:
            debounce.request(tx, self.user_id, "c", self.clock, self.window)
        self.moves += 1

    @rule()
    def move_and_roll_back(self) -> None:
        with suppress(ZeroDivisionError), self.owner.transaction(self.user_id) as tx:
            debounce.request(tx, self.user_id, "c", self.clock, self.window)
            raise ZeroDivisionError

    @rule()
    def deliver(self) -> None:
        """A wake-up comes: due, early, late or doubled."""
        with self.worker.transaction(self.user_id) as tx:
            claim = debounce.claim(tx, self.user_id, self.clock)
        if claim is None:
            return
        assert not self.claimed_at or self.true - self.claimed_at[-1] >= self.window
        assert all(self.true - other.since >= debounce.LEASE for other in self.held)
        self.claimed_at.append(self.true)
        self.held.append(Held(claim, self.true))
        self.covered = self.moves

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 3))
    def finish(self, which: int) -> None:
        """A worker comes to its end; only the last claim may be closed, and once."""
        held = self.held.pop(which % len(self.held))
        is_last = self._state()[1] == held.claim.seq
        with self.worker.transaction(self.user_id) as tx:
            assert debounce.finish(tx, self.user_id, held.claim, WRITTEN, self.clock) is is_last
            assert not debounce.finish(tx, self.user_id, held.claim, WRITTEN, self.clock)

    @rule()
    def sweep(self) -> None:
        with self.worker.transaction() as tx:
            debounce.overdue(tx, self.clock, self.window)

    @rule(seconds=st.sampled_from(PASSING))
    def pass_time(self, seconds: float) -> None:
        self.clock += timedelta(seconds=seconds)
        self.true += timedelta(seconds=seconds)

    @rule(seconds=st.sampled_from(JUMPS))
    def move_the_clock_back(self, seconds: float) -> None:
        self.clock -= timedelta(seconds=seconds)

    @invariant()
    def done_was_claimed_and_claimed_was_requested(self) -> None:
        requested, claimed, done = self._state()
        assert 0 <= done <= claimed <= requested
        assert requested >= (1 if self.moves else 0)

    def teardown(self) -> None:
        """Every holder dies; with sweeps and deliveries alone, all that moved is written up."""
        self.held.clear()
        for _ in range(60):
            requested, _, done = self._state()
            if requested == done:
                break
            self.sweep()
            self.deliver()
            while self.held:
                self.finish(0)
            self.pass_time(60)
        assert self._state()[0] == self._state()[2]
        assert self.covered == self.moves

    def _state(self) -> tuple[int, int, int]:
        with self.worker.transaction(self.user_id) as tx:
            row = _row(tx, self)
        return (row["requested_seq"], row["claimed_seq"], row["done_seq"])


def _row(tx: Transaction, machine: Debounce) -> dict[str, int]:
    found = tx.one(
        "SELECT requested_seq, claimed_seq, done_seq FROM judgment.summary_state"
        " WHERE user_id = %s",
        (machine.user_id,),
    )
    return found or {"requested_seq": 0, "claimed_seq": 0, "done_seq": 0}


@pytest.fixture(params=WINDOWS, ids=["long", "short"])
def machine(
    request: pytest.FixtureRequest, module_database: TestDatabase
) -> Iterator[type[Debounce]]:
    """The machine over a database, with a window."""
    kind = type("Here", (Debounce,), {"window": request.param, "database": module_database})
    kind.owner = Database(module_database.url("judgment_owner"))
    kind.worker = Database(module_database.url("judgment_worker"))
    yield kind
    kind.owner.close()
    kind.worker.close()


def test_no_history_breaks_a_window_overlaps_a_lease_or_forgets_a_move(
    machine: type[Debounce],
) -> None:
    machine.TestCase.settings = settings(
        max_examples=40,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    result = machine.TestCase().run()
    assert result is not None
    assert result.wasSuccessful(), [why for _, why in [*result.failures, *result.errors]]


@pytest.mark.parametrize("seed", range(60))
def test_nor_does_a_busy_one(machine: type[Debounce], seed: int) -> None:
    """Hypothesis likes short histories; these are long and crowded."""
    dice, history = random.Random(seed), machine()
    deeds: list[Callable[[], None]] = [
        *[history.move, history.deliver] * 4,
        *[lambda: history.pass_time(dice.choice(PASSING))] * 4,
        *[lambda: history.finish(dice.randint(0, 3)) if history.held else None] * 3,
        *[history.sweep] * 2,
        history.move_and_roll_back,
        lambda: history.move_the_clock_back(dice.choice(JUMPS)) if seed % 2 else None,
    ]
    for _ in range(dice.randint(5, 60)):
        dice.choice(deeds)()
        history.done_was_claimed_and_claimed_was_requested()
    history.teardown()
