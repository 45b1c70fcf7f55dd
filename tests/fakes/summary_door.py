"""The door `summary_regen` over a real database, with a queue and models in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.summary_regen.handler import build
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from tests.fakes.bus import FakeQueue
from tests.fakes.events import sqs_event
from tests.fakes.models import ScriptedModels
from tests.fakes.summaries import Summarised, message_of, said_by, truthful

if TYPE_CHECKING:
    from tests.databases import TestDatabase


class SummaryDoor(Summarised):
    """One owner's wake-ups."""

    def __init__(self, database: TestDatabase):
        super().__init__(database)
        self.queue = FakeQueue()
        self.reader = Database(database.url("judgment_reader"))
        self.telemetry = Telemetry("summary_regen")

    def models(self, script: Any = None, **options: Any) -> ScriptedModels:
        """Models that will not be asked inside a transaction; truthful without a script."""
        return ScriptedModels(
            script or said_by(truthful),
            transaction_open=lambda: self.worker.in_transaction,
            **options,
        )

    def close(self) -> None:
        """All connections."""
        super().close()
        self.reader.close()

    def deliver(self, models: ScriptedModels, *bodies: str, own: Any = None) -> list[str]:
        """What fails of these messages (the owner's wake-up without any)."""
        door = build(
            self.regeneration(models, own), self.queue, self.telemetry, clock=lambda: self.now
        )
        answer = door(sqs_event("summary", *(bodies or [message_of(self.user_id)])), None)
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
