"""What the local gateway adds, and what an MCP call costs over the same REST call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.bench.accounting import cpu_by_part
from tests.bench.measurements.events import authorized_event
from tests.bench.peers.mcp_wire import HANDSHAKE, META, NEWEST, HttpMcp
from tests.bench.profiles import profiled
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, difference, ratio
from tests.bench.workbench import READS_PER_KEY, Reader, Workbench

if TYPE_CHECKING:
    from functions.mcp.rest import Caller

GATEWAY_LIMIT_MS, MCP_LIMIT, MCP_OWN_MS = 3.0, 2.2, 3.0
TOOL = "sync.get_profile"

REST = "REST read through the gateway"
MCP, OLDER = f"MCP call, era {NEWEST}", f"MCP call, era {HANDSHAKE}"
DIRECT = "authorizer and read door, called directly"
CPU_CALLS = 300
OWN, OLDER_OWN = "MCP door alone, REST answered at once", "the same in the older era"


def measure(bench: Workbench) -> Section:
    """REST, MCP and the doors called directly, in the same rounds."""
    event = authorized_event(bench)
    with bench.as_door("authorizer"):
        from functions.authorizer.handler import handler as authorizer

        question = bench.question(event)
        authorizer(question, None)
    with bench.as_door("profile_read"):
        from functions.profile_read.handler import handler as read

        body = read(event, None)["body"].encode()
    rest, mcp, older = Reader(bench), McpReader(bench), McpReader(bench, HANDSHAKE)
    with bench.as_door("mcp"):
        own, older_own = _own_call(event, body, NEWEST), _own_call(event, body, HANDSHAKE)
        found = interleave(
            [
                Case(REST, rest),
                Case(MCP, mcp),
                Case(OLDER, older),
                Case(DIRECT, lambda: (authorizer(question, None), read(event, None))),
                Case(OWN, own),
                Case(OLDER_OWN, older_own),
            ],
            bench.rounds * 8,
        )
        parts = [cpu_by_part(call, CPU_CALLS, bench.supervisor) for call in (rest, mcp)]
        return _section(found, own, parts)


class McpReader:
    """One agent's MCP session, begun anew with another key before one is used up."""

    def __init__(self, bench: Workbench, era: str = NEWEST):
        self._bench = bench
        self._era = era
        self._left = 0
        self._session: HttpMcp | None = None

    def __call__(self) -> str:
        """The text of one `sync.get_profile`."""
        if not self._left or self._session is None:
            key = self._bench.keys(1)[0]
            headers = {"Authorization": f"Bearer {key}"}
            self._session = HttpMcp(self._bench.stack["mcp_url"], headers, self._era)
            self._left = READS_PER_KEY
        self._left -= 1
        return self._session.call(TOOL, {})


class AnswersAtOnce:
    """Stands where the REST client stands, with the answer in hand."""

    def __init__(self, body: bytes):
        self._body = body

    def get(self, path: str, query: Any, caller: Caller) -> Any:
        """The profile, without a call."""
        from functions.mcp.rest import Answer

        return Answer(200, self._body)


def _own_call(event: dict[str, Any], body: bytes, era: str) -> Callable[[], object]:
    from functions.mcp.door import McpDoor
    from functions.mcp.server import build_server
    from judgment.entry.observability import Telemetry

    rest: Any = AnswersAtOnce(body)
    door = McpDoor(build_server(rest), rest, "http://127.0.0.1", frozenset(), Telemetry("mcp"))
    params: dict[str, Any] = {"name": TOOL, "arguments": {}}
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": era}
    if era == NEWEST:
        params["_meta"] = META
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": TOOL}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    asked = {
        **event,
        "resource": "/mcp",
        "path": "/mcp",
        "httpMethod": "POST",
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "body": json.dumps(call),
    }

    def own() -> None:
        answer = door(asked, None)
        assert answer["statusCode"] == 200, answer

    return own


def _parts(rest: dict[str, float], mcp: dict[str, float]) -> Table:
    """CPU milliseconds a call of every process that has a share in it."""
    names = sorted(rest | mcp, key=lambda name: -mcp.get(name, 0.0))
    rows = [(name, f"{rest.get(name, 0):.2f}", f"{mcp.get(name, 0):.2f}") for name in names]
    rows.append(("together", f"{sum(rest.values()):.2f}", f"{sum(mcp.values()):.2f}"))
    return Table(("CPU ms a call, by process", "REST read", f"MCP call, era {NEWEST}"), tuple(rows))


def _section(
    found: dict[str, Series], own: Callable[[], object], parts: list[dict[str, float]]
) -> Section:
    added = difference(found[REST].wall_ms, found[DIRECT].wall_ms)
    times = ratio(found[MCP].wall_ms, found[REST].wall_ms)
    own_ms = found[OWN].quiet
    budgets = (
        Budget(
            "local gateway over calling the doors directly",
            f"≤ {GATEWAY_LIMIT_MS:.0f} ms more",
            f"{added.middle:.2f} ms more ({added.low:.2f}-{added.high:.2f})",
            added.middle <= GATEWAY_LIMIT_MS,
        ),
        Budget(
            "MCP tool call over the same REST call through the same gateway",
            f"≤ {MCP_LIMIT} x",
            f"{times.middle:.2f} x ({times.low:.2f}-{times.high:.2f})",
            times.middle <= MCP_LIMIT,
        ),
        Budget(
            "MCP door's own time, the REST call excluded",
            f"≤ {MCP_OWN_MS:.0f} ms",
            f"{own_ms:.2f} ms ({found[OWN].wall:.2f} the median round)",
            own_ms <= MCP_OWN_MS,
        ),
    )
    return Section(
        "Through the gateway: REST and MCP",
        "One client on one kept connection each, all guards on: the authorizer on every request "
        "(twice for an MCP call, whose door calls REST in the caller's name), scope, switches and "
        "the limit. The doors called directly run in this process. The verdict is on the newest "
        "protocol era, which the SDK's client picks; the older one has a handshake.",
        tables=(
            Table(
                ("case", "wall ms", "95th percentile", "over the REST read"),
                tuple(
                    (
                        name,
                        f"{one.wall:.2f}",
                        f"{one.slowest:.2f}",
                        f"{ratio(one.wall_ms, found[REST].wall_ms).middle:.2f} x",
                    )
                    for name, one in found.items()
                ),
            ),
            _parts(*parts),
        ),
        budgets=budgets,
        profiles={"Where the MCP door's own time goes": profiled(own)} if missed(budgets) else {},
    )
