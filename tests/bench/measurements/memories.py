"""Our profile read beside what an agent would read instead, on a document of the same size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.accounting import cpu_by_part, rendered
from tests.bench.measurements.gateway import McpReader
from tests.bench.peers.mcp_wire import HANDSHAKE, NEWEST
from tests.bench.peers.memories import BasicMemory, memories
from tests.bench.peers.peer import Document, Opened, opened
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, ratio
from tests.bench.workbench import Reader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.bench.workbench import Workbench

FASTER = 5.0
MCP, OLDER = f"Judgment, era {NEWEST}", f"Judgment, era {HANDSHAKE}"
REST = "Judgment, REST"


def measure(bench: Workbench) -> Section:
    """Everyone in the same rounds, each with one client."""
    mcp, older, rest = McpReader(bench), McpReader(bench, HANDSHAKE), Reader(bench)
    served = rest()
    document = Document.of_profile(served)
    with opened(memories(), document) as peers:
        cases = [Case(MCP, mcp), Case(OLDER, older), Case(REST, rest)]
        cases += [Case(name, read) for name, read in peers.reads.items()]
        found = interleave(cases, bench.rounds * 3)
    budgets = (_budget(found, peers),)
    why = {}
    if missed(budgets):
        parts = cpu_by_part(mcp, 300, bench.supervisor)
        why = {"Where the CPU of an MCP call goes": rendered(parts)}
    ours = {MCP: len(mcp()), OLDER: len(older()), REST: len(served)}
    return Section(
        "What an agent would read instead",
        f"The served profile as {len(document.statements)} plain statements ({document.size:,} "
        "bytes) in each peer; every answer is checked to hold all of them. MCP clients are the "
        "same few lines for us and for the peers, so that the servers are compared; the verdict is "
        f"on era {NEWEST}, which the SDK's client picks where both sides speak it. Ours are "
        "authenticated, rate-limited and read from Postgres under row security; the peers have "
        "one local user, no key and no limit.",
        tables=(_table(found, ours, peers),),
        budgets=budgets,
        profiles=why,
    )


def _table(found: Mapping[str, Series], ours: Mapping[str, int], peers: Opened) -> Table:
    tool = "MCP over HTTP, `sync.get_profile`"
    how = {MCP: tool, OLDER: tool, REST: "GET", **peers.how}
    size = {**ours, **peers.sizes}
    rows = [
        (
            name,
            how[name],
            f"{size[name]:,}",
            f"{one.wall:.2f}",
            f"{one.slowest:.2f}",
            f"{ratio(one.wall_ms, found[MCP].wall_ms).middle:.2f} x",
        )
        for name, one in found.items()
    ]
    rows += [(name, peers.how[name], "", "not run", "", why) for name, why in peers.refused.items()]
    header = ("who", "asked by", "bytes", "wall ms", "95th percentile", "over our MCP call")
    return Table(header, tuple(rows))


def _budget(found: Mapping[str, Series], peers: Opened) -> Budget:
    what, limit = "MCP tool call against basic-memory over MCP HTTP", f"≥ {FASTER:.0f} x faster"
    name = BasicMemory().name
    if name not in found:
        return Budget(what, limit, f"not run: {peers.refused[name]}", False)
    faster = ratio(found[name].wall_ms, found[MCP].wall_ms)
    text = f"{faster.middle:.1f} x ({faster.low:.1f}-{faster.high:.1f})"
    return Budget(what, limit, text, faster.middle >= FASTER)
