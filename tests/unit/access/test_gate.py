"""One call decides whether an agent reads, and the limiter does not make it wait."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from judgment.access.gate import ReadGate
from judgment.access.limits import Limit
from judgment.contract.scopes import Scope
from judgment.kit.errors import Forbidden, ProfileAccessDisabled, RateLimited, Unavailable
from tests.fakes.events import agent

READS = Limit("profile", 600)
WHO = agent(uuid.uuid4())


class Begin:
    """Opens fake transactions; remembers how each ended."""

    def __init__(self, error: Exception | None = None):
        self.error = error
        self.log: list[Any] = []

    @contextmanager
    def __call__(
        self, user_id: uuid.UUID | None = None, *, read_only: bool = False
    ) -> Generator[Any]:
        if self.error is not None:
            raise self.error
        self.log.append((user_id, read_only))
        try:
            yield "tx"
        except Exception as error:  # the fake notes every way to end
            self.log.append(type(error).__name__)
            raise
        self.log.append("committed")


class Limiter:
    """Counts uses, then does what it is told."""

    def __init__(self, error: Exception | None = None):
        self.error = error
        self.uses: list[str] = []

    def require(self, subject: str, limit: Limit) -> None:
        self.uses.append(subject)
        if self.error is not None:
            raise self.error


def gate(begin: Begin, limiter: Any, *, allowed: bool = True) -> ReadGate:
    return ReadGate(begin, lambda _tx: allowed, limiter)


def test_a_read_runs_in_one_read_only_transaction_of_the_owner():
    begin, limiter = Begin(), Limiter()
    assert gate(begin, limiter).read(WHO, Scope.PROFILE_READ, READS, lambda tx: tx) == "tx"
    assert begin.log == [(WHO.user_id, True), "committed"]
    assert limiter.uses == [str(WHO.key_id)]


def test_a_key_without_the_scope_costs_nothing():
    begin, limiter = Begin(), Limiter()
    with pytest.raises(Forbidden) as refused:
        gate(begin, limiter).read(WHO, Scope.PREFERENCES_READ, READS, lambda tx: tx)
    assert refused.value.code == "forbidden"
    assert (begin.log, limiter.uses) == ([], [])


@pytest.mark.promise("000-10.1", "R-6")
def test_a_switch_that_is_off_is_seen_before_anything_is_read():
    begin = Begin()
    with pytest.raises(ProfileAccessDisabled):
        gate(begin, Limiter(), allowed=False).read(
            WHO, Scope.PROFILE_READ, READS, lambda _: pytest.fail("read")
        )


def test_a_full_window_refuses_although_the_read_went_well():
    with pytest.raises(RateLimited):
        gate(Begin(), Limiter(RateLimited(retry_after_seconds=9))).read(
            WHO, Scope.PROFILE_READ, READS, lambda tx: tx
        )


def test_a_database_outage_is_the_answer_whatever_the_limiter_says():
    full = Limiter(RateLimited(retry_after_seconds=9))
    with pytest.raises(Unavailable):
        gate(Begin(Unavailable()), full).read(WHO, Scope.PROFILE_READ, READS, lambda tx: tx)


@pytest.mark.promise("P1-measure")
def test_the_limiter_and_the_read_run_side_by_side():
    """Each waits for the other to have started; one after the other would never end."""
    reading, counting = threading.Event(), threading.Event()

    class Meeting:
        def require(self, subject: str, limit: Limit) -> None:
            counting.set()
            assert reading.wait(10)

    def use(_: Any) -> str:
        reading.set()
        assert counting.wait(10)
        return "met"

    assert gate(Begin(), Meeting()).read(WHO, Scope.PROFILE_READ, READS, use) == "met"


def test_a_failed_read_leaves_no_limiter_call_behind():
    """A thread that goes on after the answer would be frozen with the environment."""
    finished = threading.Event()
    started = threading.Event()

    class Slow:
        def require(self, subject: str, limit: Limit) -> None:
            assert started.wait(10)
            finished.set()

    def use(_: Any) -> None:
        started.set()
        raise LookupError("no row")

    with pytest.raises(LookupError):
        gate(Begin(), Slow()).read(WHO, Scope.PROFILE_READ, READS, use)
    assert finished.is_set()


@pytest.mark.promise("P3-hosted")
def test_an_act_runs_in_one_transaction_that_may_write():
    begin, limiter = Begin(), Limiter()
    assert gate(begin, limiter).act(WHO, Scope.PROFILE_READ, READS, lambda tx: tx) == "tx"
    assert begin.log == [(WHO.user_id, False), "committed"]
    assert limiter.uses == [str(WHO.key_id)]


@pytest.mark.promise("P3-hosted")
def test_an_act_that_is_one_too_many_is_undone():
    begin = Begin()
    full = Limiter(RateLimited(retry_after_seconds=9))
    with pytest.raises(RateLimited):
        gate(begin, full).act(WHO, Scope.PROFILE_READ, READS, lambda tx: tx)
    assert begin.log == [(WHO.user_id, False), "RateLimited"]


@pytest.mark.promise("P3-hosted", "R-6")
def test_an_act_needs_its_scope_and_every_switch():
    begin, limiter = Begin(), Limiter()
    with pytest.raises(Forbidden):
        gate(begin, limiter).act(WHO, Scope.PREFERENCES_WRITE, READS, lambda _: pytest.fail("act"))
    assert (begin.log, limiter.uses) == ([], [])
    with pytest.raises(ProfileAccessDisabled):
        gate(begin, limiter, allowed=False).act(
            WHO, Scope.PROFILE_READ, READS, lambda _: pytest.fail("act")
        )
