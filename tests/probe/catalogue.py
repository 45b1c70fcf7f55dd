"""The probe's rows: one door of every kind."""

from __future__ import annotations

from infra.catalogue import Catalogue, Door, Queue, Rule, Schedule
from judgment.contract.jobs import SOURCE
from judgment.contract.routes import Route

CATALOGUE = Catalogue(
    doors=(
        Door("probe_authorizer", "Knows one word.", "tests.probe.authorizer", memory_mb=128),
        Door("probe_echo", "Shows its event.", "tests.probe.echo", timeout_s=5, memory_mb=128),
        Door(
            "probe_stream",
            "Counts.",
            "tests.probe.stream",
            timeout_s=20,
            layers=("contract", "base", "chat"),
            stream=True,
        ),
        Door(
            "probe_emit",
            "Records events.",
            "tests.probe.emit",
            database_role="judgment_owner",
            egress="aws",
            settings=("DATABASE_URL", "EVENT_BUS_NAME"),
            grants=("events:put",),
        ),
        Door(
            "probe_consume",
            "Notes events.",
            "tests.probe.consume",
            database_role="judgment_worker",
            timeout_s=4,
            settings=("DATABASE_URL",),
            trigger="queue",
        ),
        Door(
            "probe_tick",
            "Notes ticks.",
            "tests.probe.tick",
            database_role="judgment_worker",
            settings=("DATABASE_URL",),
            trigger="schedule",
        ),
    ),
    routes=(
        Route("ANY", "/probe/echo", "probe_echo", "none", "The event."),
        Route("ANY", "/probe/echo/{name}", "probe_echo", "none", "The event, with a parameter."),
        Route("GET", "/probe/stream", "probe_stream", "none", "Numbers, one by one."),
        Route("POST", "/probe/events", "probe_emit", "none", "Events, by the outbox."),
    ),
    queues=(Queue("probe", "probe_consume", max_receive_count=2),),
    rules=(Rule("probe", SOURCE, ("profile.changed",), "probe"),),
    schedules=(Schedule("probe", "probe_tick", 1, "probe"),),
)
