"""Tables of doors, their routes, settings and schedules, of events and of refusals."""

from __future__ import annotations

from functions.mcp.tools import TOOLS
from infra.catalogue import CATALOGUE, Door
from infra.docs.markdown import code, table
from judgment.contract.jobs import EVENTS
from judgment.contract.routes import ROUTES
from judgment.entry.agent_clients import CLIENTS, AgentClient
from judgment.kit.errors import Refusal


def _triggers(door: Door) -> str:
    if door.trigger == "http":
        return f"{len(CATALOGUE.routes_of(door.name))} routes"
    if door.trigger == "queue":
        return code(q.name for q in CATALOGUE.queues if q.consumer == door.name)
    if door.trigger == "schedule":
        return code(s.name for s in CATALOGUE.schedules if s.door == door.name)
    return door.trigger


def _doors() -> str:
    head = ("Door", "Trigger", "Does", "Database role", "Egress", "MB", "s", "Grants")
    return table(
        head,
        (
            (
                f"`{d.name}`",
                _triggers(d),
                d.purpose,
                code(filter(None, [d.database_role])),
                d.egress,
                d.memory_mb,
                d.timeout_s,
                code(d.grants),
            )
            for d in CATALOGUE.doors
        ),
    )


def _settings() -> str:
    names = sorted({name for door in CATALOGUE.doors for name in door.required})
    rows = ((f"`{n}`", code(d.name for d in CATALOGUE.doors if n in d.required)) for n in names)
    return table(("Setting", "Doors"), rows)


def _routes() -> str:
    return table(
        ("Route", "Door", "Who", "Scope", "Limit", "Answers"),
        (
            (
                f"`{r.method} {r.path}`",
                f"`{r.door}`",
                r.auth,
                code(filter(None, [r.scope])),
                r.limit or "",
                f"{r.status} {r.response.split(':')[1] if r.response else ''}".strip(),
            )
            for r in ROUTES
        ),
    )


def _events() -> str:
    return table(
        ("Event", "Version", "Subject", "Meaning", "Emitted from part"),
        ((f"`{e.type}`", e.version, e.subject, e.meaning, e.part) for e in EVENTS),
    )


def _schedules() -> str:
    return table(
        ("Schedule", "Door", "Every", "Task"),
        (
            (f"`{s.name}`", f"`{s.door}`", f"{s.every_minutes} min", f"`{s.task}`")
            for s in CATALOGUE.schedules
        ),
    )


def _branch(root: type[Refusal]) -> list[type[Refusal]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _branch(child))]


def _when(refusal: type[Refusal]) -> str:
    if refusal is Refusal:
        return "Anything unforeseen: a defect of ours."
    return (refusal.__doc__ or "").splitlines()[0]


def _refusals() -> str:
    tree = {r.code: r for r in _branch(Refusal) if r.__module__ == Refusal.__module__}
    ordered = sorted(tree.values(), key=lambda r: (r.status, r.code))
    return table(
        ("Status", "Code", "When"),
        ((r.status, f"`{r.code}`", _when(r)) for r in ordered),
    )


def _tools() -> str:
    return table(
        ("Tool", "Arguments", "Calls", "Scope", "Answers"),
        (
            (
                f"`{tool.name}`",
                code(tool.input_schema["properties"]),
                f"`{tool.method} {tool.path}`",
                code(filter(None, [tool.route.scope])),
                f"`{tool.result.__name__}`",
            )
            for tool in TOOLS
        ),
    )


def _agent_clients() -> str:
    """A section per runtime: its two lines, and the test that runs them."""
    return "\n\n".join(_agent_client(client) for client in CLIENTS)


def _agent_client(client: AgentClient) -> str:
    fences = [
        f"```{_language(text)}\n{text}\n```"
        for text in client.lines("https://judgment.example.com", "sync-judgment")
    ]
    proof = f"Run by `{client.executed}`." if client.executed else "Not run by our tests."
    return "\n\n".join([f"### {client.name}", *fences, proof])


def _language(lines: str) -> str:
    return {"//": "jsonc", "# ": "yaml"}.get(lines[:2], "sh")


TABLES = {
    "agent-clients": _agent_clients,
    "doors": _doors,
    "events": _events,
    "refusals": _refusals,
    "routes": _routes,
    "schedules": _schedules,
    "settings": _settings,
    "tools": _tools,
}
