"""Hosted preferences over a real database, with a bus and counters in this process."""

from __future__ import annotations

import json
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from functions.preference_compile.handler import build as build_compile
from functions.preferences.handler import build
from functions.preferences.wiring import Parts
from judgment.access.gate import ReadGate
from judgment.access.limits import Limit, RateLimiter
from judgment.access.store import agent_access
from judgment.contract.jobs import SOURCE
from judgment.db.connection import Database
from judgment.entry.observability import RATE_LIMITER_UNAVAILABLE, Telemetry
from judgment.preferences.capturing import Capturing
from judgment.preferences.consenting import Consenting
from judgment.preferences.deciding import Deciding
from judgment.preferences.reading import Reading
from judgment.preferences.recompiling import Recompiling
from judgment.queue.idempotency import idempotent
from tests.fakes.bus import FakeBus
from tests.fakes.counters import MemoryCounters
from tests.fakes.events import agent, http_event, owner, sqs_event
from tests.fakes.people import make_owner
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgment.contract.jobs import Event
    from judgment.contract.principal import Principal
    from judgment.kit.clock import Clock
    from judgment.queue.bus import EventBus
    from judgment.queue.idempotency import OncePerKey
    from tests.databases import TestDatabase

AGENT = "/api/agent/v1/preferences"
OWNER = "/api/v1/preferences"
BOTH = ("preferences:read", "preferences:write")
COUNTED = (
    "judgment.consent_events",
    "judgment.idempotency_keys",
    "judgment.outbox",
    "judgment.preference_documents",
    "judgment.preference_ledger",
    "judgment.preference_signals",
    "judgment.preference_state",
)


def signal(key: str = "dining.cuisine.thai", value: Any = "yes", **changes: Any) -> dict[str, Any]:
    """A preference as a client sends it, but for `changes`."""
    made = {"key": key, "value": value, "strength": 0.8, "source": {"platform": "codex"}}
    return made | changes


def parts_over(
    postgres: Database,
    bus: EventBus,
    counters: MemoryCounters,
    telemetry: Telemetry,
    *,
    once: OncePerKey = idempotent,
    clock: Clock | None = None,
    most: int = 10_000,
) -> Parts:
    """The door's parts as its wiring puts them together, with these edges."""
    limiter = RateLimiter(counters, lambda: telemetry.count(RATE_LIMITER_UNAVAILABLE))
    timed = {} if clock is None else {"clock": clock}
    begin = postgres.transaction
    names = ("preferences", "preference_captures", "preference_solves")
    return Parts(
        begin,
        ReadGate(begin, agent_access, limiter),
        {name: Limit(name, most) for name in names},
        Capturing(begin, bus, once, **timed),
        Reading(),
        Deciding(),
        Consenting(begin, bus, once, **timed),
    )


def message(event: Event, *, source: str = SOURCE) -> str:
    """The envelope in which EventBridge puts an event into a queue."""
    return json.dumps(
        {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": event.type,
            "source": source,
            "account": "123456789012",
            "time": "2026-11-30T12:00:00Z",
            "region": "eu-central-1",
            "resources": [],
            "detail": json.loads(event.model_dump_json()),
        }
    )


class Shelf:
    """Both doors over one database: requests in, answers out, messages delivered when asked."""

    def __init__(
        self, database: TestDatabase, *, postgres: Database | None = None, **edges: Any
    ) -> None:
        self.database = database
        self.postgres = postgres or Database(
            database.url("judgment_preferences"), application_name="under-test"
        )
        self.worker = Database(database.url("judgment_worker"))
        self.bus = FakeBus()
        self.counters = MemoryCounters()
        telemetry = Telemetry("preferences")
        self.parts = parts_over(self.postgres, self.bus, self.counters, telemetry, **edges)
        self.door = build(self.parts, telemetry)
        self.compile = build_compile(
            Recompiling(self.worker.transaction), Telemetry("preference_compile")
        )
        self.delivered = 0

    def close(self) -> None:
        """Close the connections."""
        self.postgres.close()
        self.worker.close()

    def somebody(self) -> uuid.UUID:
        """A person without anything."""
        return make_owner(self.database)

    def call(
        self,
        who: Principal | None,
        method: str,
        path: str,
        *,
        resource: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> tuple[int, Any]:
        """Status and body of one request."""
        headers = {"X-Correlation-Id": "corr-1"} | ({} if key is None else {"Idempotency-Key": key})
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        listed = None if query is None else {k: [str(v)] for k, v in query.items()}
        event = http_event(
            method,
            path,
            resource=resource,
            principal=who,
            headers=headers,
            body=text,
            query=listed,
        )
        reply = self.door(event, None)
        return reply["statusCode"], json.loads(reply["body"]) if reply["body"] else None

    def as_owner(self, who: uuid.UUID, method: str, path: str = "", **more: Any) -> tuple[int, Any]:
        """A request by the person themself."""
        return self.call(owner(who), method, OWNER + path, **more)

    def as_agent(
        self,
        who: uuid.UUID,
        method: str,
        path: str = "",
        *,
        scopes: Sequence[str] = BOTH,
        key_id: uuid.UUID | None = None,
        **more: Any,
    ) -> tuple[int, Any]:
        """A request with one of their keys."""
        return self.call(agent(who, *scopes, key_id=key_id), method, AGENT + path, **more)

    def capture(self, who: uuid.UUID, *signals: dict[str, Any], **more: Any) -> Any:
        """Keep signals as the owner and compile them; what was answered."""
        status, body = self.as_owner(
            who, "POST", "/signals", body={"signals": list(signals)}, **more
        )
        assert status == 201, body
        self.deliver()
        return body["signals"]

    def forget(self, who: uuid.UUID, signal_id: str) -> tuple[int, Any]:
        """Delete a signal."""
        return self.as_owner(
            who,
            "DELETE",
            f"/signals/{signal_id}",
            resource=f"{OWNER}/signals/{{signal_id}}",
        )

    def allow(self, who: uuid.UUID, audience: str, glob: str = "*", **more: Any) -> Any:
        """Open keys to an audience."""
        body = {"key_glob": glob, "audience": audience} | more
        status, answer = self.as_owner(who, "POST", "/consent", body=body)
        assert status == 201, answer
        return answer

    def revoke(self, who: uuid.UUID, audience: str, glob: str = "*", **more: Any) -> Any:
        """Take back what was opened."""
        body = {"key_glob": glob, "audience": audience} | more
        status, answer = self.as_owner(who, "POST", "/consent/revocations", body=body)
        assert status == 201, answer
        return answer

    def deliver(self) -> list[str]:
        """Hand the compiler every event that the bus took since; ids of messages that failed."""
        events = self.bus.taken[self.delivered :]
        self.delivered = len(self.bus.taken)
        bodies = [message(e) for e in events if e.type == "preference.captured"]
        return self.hand(*bodies) if bodies else []

    def hand(self, *bodies: str) -> list[str]:
        """Deliver these messages; ids of those that failed."""
        answer = self.compile(sqs_event("preferences", *bodies), None)
        return [failed["itemIdentifier"] for failed in answer["batchItemFailures"]]

    def get(self, who: uuid.UUID, **query: Any) -> Any:
        """The owner's preferences as the owner's agent reads them."""
        status, body = self.as_agent(who, "GET", query=query or None)
        assert status == 200, body
        return body

    def values(self, who: uuid.UUID, **query: Any) -> dict[str, Any]:
        """Values by key, as the owner's agent reads them."""
        return {entry["key"]: entry["value"] for entry in self.get(who, **query)["entries"]}

    def ledger(self, who: uuid.UUID) -> list[dict[str, Any]]:
        """The whole ledger, oldest first."""
        found = rows(
            self.database,
            "SELECT entry FROM judgment.preference_ledger WHERE user_id = %s ORDER BY position",
            who,
        )
        return [json.loads(entry) for (entry,) in found]

    def verification(self, who: uuid.UUID) -> Any:
        """What the owner is told of the ledger."""
        status, body = self.as_owner(who, "GET", "/ledger/verification")
        assert status == 200, body
        return body

    def everything(self, who: uuid.UUID) -> dict[str, list[str]]:
        """Every row that these doors may write of one owner, as text, by table."""
        find = partial(rows, self.database)
        return {
            table: [
                row
                for (row,) in find(
                    f"SELECT to_jsonb(t)::text FROM {table} t WHERE user_id = %s ORDER BY 1", who
                )
            ]
            for table in COUNTED
        }
