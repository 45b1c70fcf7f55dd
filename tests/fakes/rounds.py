"""Scenarios in a test's database, and the parts of a round over it with fakes at the edges."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from judgment.db.connection import Database
from judgment.profile import store
from judgment.profile.decision import Option
from judgment.profile.progress import ProfileProgress
from judgment.profile.stimuli import Outcome, Stimuli
from judgment.queue.idempotency import idempotent
from judgment.scenarios.choosing import Settings
from judgment.scenarios.model import Scenario, scenario_columns
from judgment.scenarios.ports import Summaries
from judgment.scenarios.rounds import Rounds
from judgment.summary.moves import request_if_moved
from judgment.summary.wakeups import wake
from tests.fakes.bus import FakeBus, FakeQueue

if TYPE_CHECKING:
    from judgment.kit.clock import Clock
    from judgment.queue.bus import EventBus
    from judgment.queue.idempotency import OncePerKey
    from judgment.queue.jobs import JobQueue
    from judgment.scenarios.ports import Profiles
    from tests.databases import TestDatabase

WINDOW = timedelta(minutes=10)

OPTIONS = (
    Option("open", "Open the books", "All of them.", {"candour": 0.9, "speed": 0.2}, 0.8),
    Option("part", "Open some", "The harmless ones.", {"candour": 0.5, "speed": 0.6}, 0.4),
    Option("shut", "Keep them shut", "None of them.", {"candour": 0.1, "speed": 0.9}, 0.2),
    Option("none", "None of these"),
)
ASKING = Stimuli(
    premise="An auditor stands at the door.",
    majority_option_id="part",
    majority_text="Most of the board would open some.",
    counter_arguments={"open": "The bank reads along.", "shut": "They will find out."},
    outcomes={"open": Outcome("The auditor left early.", True)},
)


class TestClock:
    """A clock that stands until it is moved."""

    __test__ = False

    def __init__(self, now: datetime | None = None):
        self.now = now or datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        """By so many seconds, minutes, days; negative ones back."""
        self.now += timedelta(**by)


def scenario(**changes: Any) -> Scenario:
    """A canonical scenario of the boardroom with a new id, but for `changes`."""
    values: dict[str, Any] = {
        "id": uuid.uuid4(),
        "theme": "boardroom",
        "category": "governance",
        "title": "The auditor",
        "description": "An auditor asks for books that nobody has asked for before.",
        "constraints": ("The auditor leaves at noon.",),
        "options": OPTIONS,
    }
    return Scenario(**(values | changes))


def store_scenario(
    database: TestDatabase, made: Scenario | None = None, *, archived: bool = False
) -> Scenario:
    """The scenario, stored as the loader or a generation would."""
    made = made or scenario()
    columns = scenario_columns(made)
    values = {k: Jsonb(v) if isinstance(v, list | dict) else v for k, v in columns.items()}
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)"
            " VALUES (%(scenario_id)s, %(theme)s, %(category)s, %(owner_user_id)s)",
            values,
        )
        admin.execute(
            "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title,"
            " description, options, constraints, stimuli, archived) VALUES (%(scenario_id)s,"
            " %(owner_user_id)s, %(title)s, %(description)s, %(options)s, %(constraints)s,"
            " %(stimuli)s, %(archived)s)",
            values | {"archived": archived},
        )
    return made


def rounds_over(
    postgres: Database,
    bus: EventBus,
    queue: JobQueue,
    clock: Clock,
    *,
    settings: Settings | None = None,
    profiles: Profiles | None = None,
    once: OncePerKey = idempotent,
) -> Rounds:
    """Rounds as the door's wiring puts them together, with these edges."""
    return Rounds(
        postgres.transaction,
        bus,
        profiles or ProfileProgress(store),
        Summaries(partial(request_if_moved, window=WINDOW), partial(wake, queue)),
        once,
        settings or Settings(),
        clock,
    )


class Table:
    """All parts of a round: real Postgres and idempotency, a bus and a queue in this process."""

    def __init__(
        self,
        database: TestDatabase,
        *,
        postgres: Database | None = None,
        settings: Settings | None = None,
    ):
        self.database = database
        self.postgres = postgres or Database(database.url("judgment_owner"))
        self.clock = TestClock()
        self.bus = FakeBus()
        self.queue = FakeQueue()
        self.rounds = rounds_over(
            self.postgres, self.bus, self.queue, self.clock, settings=settings
        )

    def close(self) -> None:
        """Close the connection."""
        self.postgres.close()


def rows(database: TestDatabase, statement: str, *params: object) -> list[Any]:
    """What a statement finds, past every policy."""
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute(statement.encode(), params).fetchall()


COUNTED = (
    "judgment.decisions",
    "judgment.idempotency_keys",
    "judgment.outbox",
    "judgment.profile_accumulators",
    "judgment.servings",
    "judgment.summary_state",
    "public.choices",
    "public.evaluation_snapshots",
    "public.player_decision_profiles",
)


def everything_of(database: TestDatabase, user_id: uuid.UUID) -> dict[str, list[str]]:
    """Every row that recording a decision may write of one owner, as text, by table."""
    return {
        table: [
            row[0]
            for row in rows(
                database,
                f"SELECT to_jsonb(t)::text FROM {table} t WHERE user_id = %s ORDER BY 1",
                user_id,
            )
        ]
        for table in COUNTED
    }
