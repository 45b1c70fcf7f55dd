"""The storm of reference/aws.md §5: real threads, a real Postgres, and a clock that ticks for all.

Time is a value: at each tick every thread does what it has to do at that moment, at once with the
others; then the clock moves on. Nobody sleeps.
"""

from __future__ import annotations

import heapq
import random
import threading
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import psycopg
import pytest

from judgment.db.connection import Database
from judgment.summary import debounce
from judgment.summary.model import Finished
from judgment.summary.wakeups import wake, wake_overdue, wake_up_of
from tests.fakes.people import make_owner

if TYPE_CHECKING:
    from judgment.summary.model import Claim
    from tests.databases import TestDatabase

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=10)
TICK = timedelta(seconds=5)
OWNERS, PRODUCERS, WORKERS, EVENTS = 6, 4, 6, 1_200
LOST, DOUBLED, CRASHED = 0.10, 0.15, 0.10
WRITTEN = Finished({}, 1, None, 0)


@dataclass
class Weather:
    """The clock, the queue and what was seen, shared by all threads."""

    dice: random.Random
    now: datetime = START
    messages: list[tuple[datetime, float, str]] = field(default_factory=list)
    claims: dict[uuid.UUID, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    at_it: Counter[uuid.UUID] = field(default_factory=Counter)
    overlaps: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def send(self, body: str, *, delay_seconds: int = 0) -> None:
        """A queue that loses one in ten and doubles more."""
        with self.turn:
            if self.dice.random() < LOST:
                self.seen["lost"] += 1
                return
            for _ in range(2 if self.dice.random() < DOUBLED else 1):
                due = self.now + timedelta(seconds=delay_seconds)
                heapq.heappush(self.messages, (due, self.dice.random(), body))
                self.seen["sent"] += 1

    def receive(self) -> str | None:
        with self.turn:
            if self.messages and self.messages[0][0] <= self.now:
                return heapq.heappop(self.messages)[2]
            return None

    def chance(self, share: float) -> bool:
        with self.turn:
            return self.dice.random() < share


class Producer:
    """Moves the profile of one owner or another."""

    def __init__(self, weather: Weather, database: TestDatabase, owners: list[uuid.UUID]):
        self.weather, self.owners = weather, owners
        self.database = Database(database.url("judgment_owner"))

    def act(self) -> None:
        if self.weather.seen["moves"] >= EVENTS or not self.weather.chance(0.15):
            return
        with self.weather.turn:
            self.weather.seen["moves"] += 1
            who = self.weather.dice.choice(self.owners)
        now = self.weather.now
        with self.database.transaction(who) as tx:
            due = debounce.request(tx, who, "storm", now, WINDOW)
        if due.became_pending:
            wake(self.weather, who, due.run_after, "storm", now)


class Worker:
    """Takes a message, claims, is busy for a while, and finishes or dies."""

    def __init__(self, weather: Weather, database: TestDatabase):
        self.weather = weather
        self.database = Database(database.url("judgment_worker"))
        self.busy: tuple[uuid.UUID, Claim, datetime] | None = None

    def act(self) -> None:
        if self.busy is not None:
            self._go_on(*self.busy)
        elif body := self.weather.receive():
            self._begin(wake_up_of(body).user_id)

    def _begin(self, who: uuid.UUID) -> None:
        weather, now = self.weather, self.weather.now
        with self.database.transaction(who) as tx:
            claimed = debounce.claim(tx, who, now)
            look_at = None if claimed else debounce.next_look(tx, who)
        if claimed is None:
            weather.seen["nothing to claim"] += 1
            if look_at is not None:
                wake(weather, who, look_at, "storm", now)
            return
        with weather.turn:
            weather.claims[who].append(now)
            weather.at_it[who] += 1
            weather.overlaps += weather.at_it[who] > 1
            self.busy = (who, claimed, now + TICK * weather.dice.randint(1, 20))

    def _go_on(self, who: uuid.UUID, claimed: Claim, until: datetime) -> None:
        weather = self.weather
        if weather.now < until:
            return
        self.busy = None
        if weather.chance(CRASHED):
            weather.seen["crashes"] += 1
        else:
            with self.database.transaction(who) as tx:
                assert debounce.finish(tx, who, claimed, WRITTEN, weather.now)
        with weather.turn:
            weather.at_it[who] -= 1


class Sweeper:
    """Each minute."""

    def __init__(self, weather: Weather, database: TestDatabase):
        self.weather = weather
        self.database = Database(database.url("judgment_worker"))

    def act(self) -> None:
        weather = self.weather
        if (weather.now - START) % timedelta(minutes=1) == timedelta():
            found = wake_overdue(self.database.transaction, weather, lambda: weather.now, WINDOW)
            weather.seen["swept"] += found.overdue


def unfinished(database: TestDatabase) -> int:
    with psycopg.connect(database.admin_url) as admin:
        found = admin.execute(
            "SELECT count(*) FROM judgment.summary_state WHERE requested_seq <> done_seq"
        ).fetchone()
    assert found is not None
    return found[0]


@pytest.mark.promise("P2-5-debounce", "P2-measure")
def test_the_storm_breaks_no_window_and_loses_no_trailing_edge(
    fresh_database: TestDatabase,
) -> None:
    weather = Weather(random.Random(20261130))
    owners = [make_owner(fresh_database) for _ in range(OWNERS)]
    actors = [
        *(Producer(weather, fresh_database, owners) for _ in range(PRODUCERS)),
        *(Worker(weather, fresh_database) for _ in range(WORKERS)),
        Sweeper(weather, fresh_database),
    ]
    start, end = (threading.Barrier(len(actors) + 1) for _ in range(2))
    is_over = threading.Event()
    failures: list[BaseException] = []

    def live(actor: Producer | Worker | Sweeper) -> None:
        while True:
            start.wait(60)
            if is_over.is_set():
                break
            try:
                actor.act()
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test must end
                failures.append(error)
            end.wait(60)
        actor.database.close()

    threads = [threading.Thread(target=live, args=(actor,)) for actor in actors]
    for thread in threads:
        thread.start()
    ticks, calm = 0, 0
    while calm < 12 and not failures and ticks < 10_000:
        start.wait(60)
        end.wait(60)
        ticks += 1
        weather.now += TICK
        if weather.seen["moves"] >= EVENTS and ticks % 12 == 0:
            calm = calm + 1 if unfinished(fresh_database) == 0 else 0
    is_over.set()
    start.wait(60)
    for thread in threads:
        thread.join(60)
    assert failures == []
    gaps = [b - a for found in weather.claims.values() for a, b in pairwise(found)]
    assert unfinished(fresh_database) == 0
    assert min(gaps) >= WINDOW
    assert weather.overlaps == 0
    assert len(gaps) > 60
    assert weather.seen["moves"] >= 1_000
    assert min(weather.seen[what] for what in ("lost", "crashes", "swept")) > 0
