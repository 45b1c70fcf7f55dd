"""The probe's rows: one door of every kind."""

from __future__ import annotations

from infra.catalogue import Catalogue, Door
from judgment.contract.routes import Route

CATALOGUE = Catalogue(
    doors=(
        Door("probe_authorizer", "Knows one word.", "tests.probe.authorizer", memory_mb=128),
        Door("probe_echo", "Shows its event.", "tests.probe.echo", timeout_s=5, memory_mb=128),
        Door("probe_stream", "Counts.", "tests.probe.stream", timeout_s=20, stream=True),
    ),
    routes=(
        Route("ANY", "/probe/echo", "probe_echo", "none", "The event."),
        Route("ANY", "/probe/echo/{name}", "probe_echo", "none", "The event, with a parameter."),
        Route("GET", "/probe/agent", "probe_echo", "agent", "The event of an agent."),
        Route("GET", "/probe/owner", "probe_echo", "owner", "The event of an owner."),
        Route("GET", "/probe/stream", "probe_stream", "none", "Numbers, one by one."),
    ),
)
