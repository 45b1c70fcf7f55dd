"""The one table of doors: what triggers each, who may call it, what it may reach, what it costs.

CDK builds from it, the local stack starts from it, the docs list it, and tests hold the template,
the routers and the database roles against it. It imports no CDK. Routes live in
`judgment.contract.routes`; a door owns those that name it. Adding a door touches this file,
`functions/<door>/`, `events/<door>/`, `tests/functions/test_<door>.py` and the docs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from judgment.contract.jobs import SOURCE, SYNC_SOURCE
from judgment.contract.routes import ROUTES, Route

Egress = Literal["none", "aws", "internet"]
Layer = Literal["contract", "base", "mcp", "chat", "embeddings"]
DatabaseRole = Literal[
    "judgment_authorizer",
    "judgment_reader",
    "judgment_owner",
    "judgment_preferences",
    "judgment_process",
    "judgment_worker",
    "judgment_evaluator",
    "judgment_migrate",
]
Grant = Literal["rate_limits:update", "events:put", "session_secret:read", "model_secrets:read"]


@dataclass(frozen=True)
class Door:
    """One Lambda. `handler` is a dotted module path with a `handler` function.

    `settings` names the environment variables the deployment fills in (docs/operator-guide.md
    lists their meaning), `optional` those that an operator may set; `sends` names the queues it
    puts direct messages on, whose addresses it is told; `stream` marks a response-streaming ASGI
    door.
    """

    name: str
    purpose: str
    handler: str
    database_role: DatabaseRole | None = None
    egress: Egress = "none"
    memory_mb: int = 512
    timeout_s: int = 10
    layers: tuple[Layer, ...] = ("contract", "base")
    settings: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    stream: bool = False
    trigger: Literal["http", "authorizer", "queue", "schedule", "deploy"] = "http"

    @property
    def required(self) -> tuple[str, ...]:
        """Every variable the deployment must fill in, the addresses of queues included."""
        return (*self.settings, *map(queue_setting, self.sends))


def queue_setting(queue: str) -> str:
    """The environment variable that tells a door where that queue is."""
    return f"QUEUE_URL_{queue.upper().replace('-', '_')}"


VISIBILITY_PER_TIMEOUT = 6
"""Visibility timeout over the consumer's timeout (Lambda developer guide, SQS event sources)."""


@dataclass(frozen=True)
class Queue:
    """An SQS queue with its dead-letter queue, consumed by one door in partial batches."""

    name: str
    consumer: str
    batch_size: int = 10
    max_receive_count: int = 5
    max_concurrency: int = 5

    @property
    def setting(self) -> str:
        """The environment variable that tells a door where it is."""
        return queue_setting(self.name)


@dataclass(frozen=True)
class Rule:
    """Events of `source` with one of `types` go to `queue`."""

    name: str
    source: str
    types: tuple[str, ...]
    queue: str


@dataclass(frozen=True)
class Schedule:
    """A tick: `door` is invoked with `{"task": task}` every `every_minutes`."""

    name: str
    door: str
    every_minutes: int
    task: str


@dataclass(frozen=True)
class Table:
    """A DynamoDB table with string key `pk` and a TTL attribute."""

    name: str
    setting: str
    ttl_attribute: str = "ttl"


@dataclass(frozen=True)
class Catalogue:
    """Everything deployable; `plus` joins a tests-only catalogue to the product's."""

    doors: tuple[Door, ...] = ()
    routes: tuple[Route, ...] = ()
    queues: tuple[Queue, ...] = ()
    rules: tuple[Rule, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    tables: tuple[Table, ...] = ()

    def door(self, name: str) -> Door:
        """The door of that name. Raises KeyError."""
        for door in self.doors:
            if door.name == name:
                return door
        raise KeyError(name)

    def routes_of(self, name: str) -> tuple[Route, ...]:
        """The routes served by that door, in table order."""
        return tuple(route for route in self.routes if route.door == name)

    def plus(self, other: Catalogue) -> Catalogue:
        """Both catalogues as one."""
        return replace(
            self,
            doors=self.doors + other.doors,
            routes=self.routes + other.routes,
            queues=self.queues + other.queues,
            rules=self.rules + other.rules,
            schedules=self.schedules + other.schedules,
            tables=self.tables + other.tables,
        )


def _handler(door: str, module: str = "handler") -> str:
    return f"functions.{door}.{module}"


MODEL_SETTINGS = (
    *("MODEL_SUMMARY", "MODEL_EVALUATION", "MODEL_SCENARIO", "MODEL_MESSAGE", "MODEL_EMBEDDING"),
    *("OLLAMA_BASE_URL", "BRAINDRIVE_MODELS_BASE_URL", "OPENROUTER_BASE_URL"),
    *("OPENAI_COMPATIBLE_BASE_URL", "MODEL_PRICES", "MODEL_OFFERED", "MODEL_TIMEOUT_SECONDS"),
    *("MODEL_WINDOWS", "MODEL_WITHOUT_TOOLS"),
    *("OLLAMA_API_KEY", "AI_GATEWAY_API_KEY", "OPENROUTER_API_KEY", "OPENAI_COMPATIBLE_API_KEY"),
)
"""What `judgment.llm` reads (`judgment/llm/settings.py`); a door that asks a model takes them all.
On AWS keys come from Secrets Manager and the four `…_API_KEY` stay unset."""

_OIDC = ("OIDC_ISSUER", "OIDC_AUDIENCE", "OIDC_ADMIN_CLAIM")

CATALOGUE = Catalogue(
    doors=(
        Door(
            "authorizer",
            "Says who is asking: agent key, owner JWT or console session.",
            _handler("authorizer"),
            database_role="judgment_authorizer",
            egress="internet",
            settings=("DATABASE_URL", "CONSOLE_ORIGIN", "SESSION_SECRET_ID", *_OIDC),
            grants=("session_secret:read",),
            trigger="authorizer",
        ),
        Door(
            "public",
            "Health, the agent skill, and 404 for the rest.",
            _handler("public"),
            memory_mb=256,
            settings=("API_URL",),
        ),
        Door(
            "profile_read",
            "The distilled judgment profile and recent decisions, for agents.",
            _handler("profile_read"),
            database_role="judgment_reader",
            egress="aws",
            settings=("DATABASE_URL", "RATE_LIMIT_TABLE"),
            optional=("LIMIT_PROFILE_PER_HOUR", "LIMIT_RECENT_DECISIONS_PER_HOUR"),
            grants=("rate_limits:update",),
        ),
        Door(
            "mcp",
            "The agent routes as MCP tools.",
            _handler("mcp", "app"),
            egress="internet",
            timeout_s=29,
            layers=("contract", "base", "mcp"),
            settings=("API_URL", "ALLOWED_ORIGINS"),
        ),
        Door(
            "api_keys",
            "Owners mint, list and revoke agent keys.",
            _handler("api_keys"),
            database_role="judgment_owner",
            settings=("DATABASE_URL",),
        ),
        Door(
            "account",
            "Owners switch agent access, choose models, export and erase.",
            _handler("account"),
            database_role="judgment_owner",
            timeout_s=29,
            settings=("DATABASE_URL", "MODEL_SECRET_PREFIX"),
            optional=MODEL_SETTINGS,
        ),
        Door(
            "personal_context",
            "The owner's personal context, and the one prompt for it.",
            _handler("personal_context"),
            database_role="judgment_owner",
            settings=("DATABASE_URL",),
        ),
        Door(
            "rounds",
            "Owners play: the next round, and the decision on it.",
            _handler("rounds"),
            database_role="judgment_owner",
            egress="aws",
            memory_mb=1024,
            timeout_s=29,
            settings=("DATABASE_URL", "EVENT_BUS_NAME"),
            optional=("SUMMARY_WINDOW_SECONDS", "RETEST_AFTER_DAYS", "RETEST_ONE_IN"),
            sends=("summary",),
            grants=("events:put",),
        ),
        Door(
            "scenario_generation",
            "Makes a round about the owner's own life.",
            _handler("scenario_generation"),
            database_role="judgment_owner",
            egress="internet",
            timeout_s=29,
            layers=("contract", "base", "chat"),
            settings=("DATABASE_URL", "EVENT_BUS_NAME", "MODEL_SECRET_PREFIX", "RATE_LIMIT_TABLE"),
            optional=("LIMIT_PERSONAL_SCENARIOS_PER_DAY", *MODEL_SETTINGS),
            grants=("events:put", "rate_limits:update", "model_secrets:read"),
        ),
        Door(
            "decision_intake",
            "Takes note of decisions made in an existing Sync app.",
            _handler("decision_intake"),
            database_role="judgment_worker",
            egress="aws",
            timeout_s=15,
            settings=("DATABASE_URL",),
            optional=("SUMMARY_WINDOW_SECONDS",),
            sends=("summary",),
            trigger="queue",
        ),
        Door(
            "summary_regen",
            "Writes the summary and the context block anew, by a model where one is configured.",
            _handler("summary_regen"),
            database_role="judgment_worker",
            egress="internet",
            timeout_s=120,
            layers=("contract", "base", "chat"),
            settings=("DATABASE_URL", "MODEL_SECRET_PREFIX"),
            optional=("SUMMARY_WINDOW_SECONDS", *MODEL_SETTINGS),
            sends=("summary",),
            grants=("model_secrets:read",),
            trigger="queue",
        ),
        Door(
            "preferences",
            "What an owner wants: capture, read, solve, consent, ledger.",
            _handler("preferences"),
            database_role="judgment_preferences",
            egress="aws",
            timeout_s=15,
            settings=("DATABASE_URL", "EVENT_BUS_NAME", "RATE_LIMIT_TABLE"),
            optional=(
                *("LIMIT_PREFERENCES_PER_HOUR", "LIMIT_PREFERENCE_CAPTURES_PER_HOUR"),
                "LIMIT_PREFERENCE_SOLVES_PER_HOUR",
            ),
            grants=("events:put", "rate_limits:update"),
        ),
        Door(
            "preference_compile",
            "Compiles an owner's signals into documents.",
            _handler("preference_compile"),
            database_role="judgment_worker",
            memory_mb=1024,
            timeout_s=30,
            settings=("DATABASE_URL",),
            trigger="queue",
        ),
        Door(
            "guarded_message",
            "Answers an owner's message as a stream: the model, its tools, the owner's memory.",
            _handler("guarded_message", "app"),
            database_role="judgment_process",
            egress="internet",
            memory_mb=1024,
            timeout_s=900,
            layers=("contract", "base", "chat"),
            settings=("DATABASE_URL", "MODEL_SECRET_PREFIX"),
            optional=("INTEGRATION_SECONDS", *MODEL_SETTINGS),
            grants=("model_secrets:read",),
            stream=True,
        ),
        Door(
            "conversations",
            "Conversations, pages and their files, approvals; a memory comes and goes whole.",
            _handler("conversations"),
            database_role="judgment_process",
            memory_mb=1024,
            timeout_s=29,
            settings=("DATABASE_URL",),
        ),
        Door(
            "flags",
            "Admins read and set the kill switch.",
            _handler("flags"),
            database_role="judgment_worker",
            settings=("DATABASE_URL",),
        ),
        Door(
            "maintenance",
            "Sweeps the outbox and overdue summaries, retires what is past its time.",
            _handler("maintenance"),
            database_role="judgment_worker",
            egress="aws",
            timeout_s=60,
            settings=("DATABASE_URL", "EVENT_BUS_NAME"),
            optional=("SUMMARY_WINDOW_SECONDS",),
            sends=("summary",),
            grants=("events:put",),
            trigger="schedule",
        ),
        Door(
            "migrate",
            "Applies migrations and database roles at deploy, and loads the scenario library.",
            _handler("migrate"),
            database_role="judgment_migrate",
            timeout_s=300,
            settings=("DATABASE_URL",),
            trigger="deploy",
        ),
    ),
    routes=ROUTES,
    queues=(
        Queue("rounds", "decision_intake"),
        Queue("summary", "summary_regen", batch_size=1),
        Queue("preferences", "preference_compile"),
    ),
    rules=(
        Rule("sync-decisions", SYNC_SOURCE, ("decision.recorded",), "rounds"),
        Rule("captured-preferences", SOURCE, ("preference.captured",), "preferences"),
    ),
    schedules=(
        Schedule("each-minute", "maintenance", 1, "sweep"),
        Schedule("daily", "maintenance", 1440, "retention"),
    ),
    tables=(Table("rate-limits", "RATE_LIMIT_TABLE"),),
)
