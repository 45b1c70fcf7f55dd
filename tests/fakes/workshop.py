"""The door that makes personal rounds, over a real database, with a model that a test scripts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg

from functions.scenario_generation.handler import build
from judgment.access.limits import Limit, RateLimiter
from judgment.contract.profile import CATEGORIES
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.llm import store as model_rows
from judgment.llm.calling import Patience
from judgment.llm.client import ModelClient
from judgment.llm.keys import StoredKeys
from judgment.llm.model import ModelChoice
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured
from judgment.scenarios.personal.making import DAY, PersonalRounds
from tests.fakes.bus import FakeBus
from tests.fakes.counters import MemoryCounters
from tests.fakes.drafts import good
from tests.fakes.events import http_event, owner
from tests.fakes.models import ScriptedModels
from tests.fakes.people import make_owner, run_as_admin

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judgment.llm.model import Models
    from tests.databases import TestDatabase

PERSONAL = "/api/v1/scenarios/personal"
NOTES = "I run a bakery with nine people in a small town, and my daughter wants to join."
OFFERED = ModelChoice("openrouter", "own/model")
CONFIGURED = configured(ModelSettings(model_offered=OFFERED.label))
MORNING = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def client_of(url: str, timeout_seconds: float = 12.0) -> ModelClient:
    """The real client of a provider at that address, which does not wait before it tries again."""
    settings = ModelSettings(
        model_scenario="openai-compatible:fake-model",
        openai_compatible_base_url=f"{url}/v1",
        openai_compatible_api_key="key-of-tests",
        model_timeout_seconds=timeout_seconds,
    )
    patience = Patience(timeout_seconds, sleep=lambda seconds: None)
    config = configured(settings)
    return ModelClient(config, StoredKeys(config, lambda name: lambda: b""), patience)


def filled(role: str, prompt: object, shape: type[BaseModel]) -> str:
    """The script of a good model: a good draft of whatever shape is asked for."""
    return json.dumps(good(shape.__name__))


class Workshop:
    """One environment of the door.

    `now` is its clock; `lambda_` stands for Lambda's context; where `cut`, no connection is made.
    """

    def __init__(
        self,
        database: TestDatabase,
        models: Models | None = None,
        *,
        counters: MemoryCounters | None = None,
        most: int = 20,
    ):
        self.database = database
        self.now = MORNING
        self.cut = False
        self.postgres = Database(database.url("judgment_owner"), connect=self._connect)
        self.scripted = ScriptedModels(
            filled, transaction_open=lambda: self.postgres.in_transaction
        )
        self.counters = counters or MemoryCounters()
        self.bus = FakeBus()
        self.lambda_: object = None
        rounds = PersonalRounds(
            self.postgres.transaction,
            models or self.scripted,
            OwnersChoices(self.postgres.transaction, model_rows, CONFIGURED).own,
            RateLimiter(self.counters, lambda: None, lambda: self.now),
            Limit("personal_scenarios", most, DAY),
            self.bus,
            lambda: self.now,
        )
        self.door = build(rounds, Telemetry("scenario_generation"))

    def person(self, notes: str = NOTES) -> uuid.UUID:
        """An owner with that personal context."""
        who = make_owner(self.database)
        run_as_admin(
            self.database,
            "UPDATE public.profiles SET personal_context = %s WHERE id = %s",
            notes,
            who,
        )
        return who

    def make(self, who: uuid.UUID, **event: Any) -> tuple[int, Any]:
        """Ask for a round: status and body."""
        reply = self.door(http_event("POST", PERSONAL, principal=owner(who), **event), self.lambda_)
        return reply["statusCode"], json.loads(reply["body"])

    def rows(self, query: str, **params: object) -> list[tuple[Any, ...]]:
        """What the superuser sees."""
        with psycopg.connect(self.database.admin_url) as admin:
            return admin.execute(query.encode(), params).fetchall()

    def stored(self, who: uuid.UUID) -> list[Mapping[str, Any]]:
        """The owner's personal rounds as stored, oldest first."""
        found = self.rows(
            "SELECT to_jsonb(s) || to_jsonb(c) FROM public.scenarios s"
            " JOIN judgment.scenario_contents c ON c.scenario_id = s.id"
            " WHERE s.personalized_for_user_id = %(who)s ORDER BY c.created_at",
            who=who,
        )
        return [row[0] for row in found]

    def calls(self, who: uuid.UUID) -> list[str]:
        """The outcomes of the owner's model calls on record."""
        found = self.rows(
            "SELECT outcome FROM judgment.model_calls WHERE user_id = %(who)s ORDER BY outcome",
            who=who,
        )
        return [row[0] for row in found]

    def canonical(self, key: str, category: str, stimuli: str = "{}") -> uuid.UUID:
        """A canonical round under a key that sorts before those of the library."""
        made = uuid.uuid4()
        options = [{"id": i, "label": i.upper()} for i in ("a", "b", "c", "none")]
        run_as_admin(
            self.database,
            "INSERT INTO public.scenarios (id, theme, category) VALUES (%s, 'court', %s)",
            made,
            category,
        )
        run_as_admin(
            self.database,
            "INSERT INTO judgment.scenario_contents (scenario_id, title, options, constraints,"
            " library_key, stimuli) VALUES (%s, %s, %s::jsonb, '[\"one\"]', %s, %s::jsonb)",
            made,
            f"Canonical {key}",
            json.dumps(options),
            f"0-{key}-{made}",
            stimuli,
        )
        return made

    def shelf(self) -> None:
        """A canonical round in each domain."""
        for category in CATEGORIES:
            self.canonical("shelf", category)

    def used(self, who: uuid.UUID) -> int:
        """How many of the day's requests are counted."""
        return self.counters.uses("personal_scenarios", str(who))

    def tomorrow(self) -> None:
        """A day later."""
        self.now += timedelta(days=1)

    def lose_database(self) -> None:
        """Close the connection and let no other be made."""
        self.postgres.close()
        self.cut = True

    def close(self) -> None:
        """Close the connection."""
        self.postgres.close()

    def _connect(self, **options: Any) -> psycopg.Connection[Any]:
        if self.cut:
            raise psycopg.OperationalError("cut")
        return psycopg.connect(**options)
