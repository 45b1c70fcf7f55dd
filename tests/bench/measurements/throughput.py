"""Reads a second through the gateway, all guards on, beside the bare pair of calls."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.load import Load, drive, get_request
from tests.bench.peers.processes import line_pipes
from tests.bench.report import Budget, Section, Table
from tests.bench.series import Spread, ratio
from tests.bench.workbench import PROFILE

if TYPE_CHECKING:
    from tests.bench.workbench import Workbench

CLIENTS = (1, 4, 8, 16)
SHARE = 0.40
SECONDS = 4.0
MOST_PER_SECOND = 900
"""No local stack has come near it; only the number of keys depends on it."""


class Measured(NamedTuple):
    """One number of clients over all rounds."""

    loads: list[Load]
    ceilings: list[float]

    @property
    def share(self) -> Spread:
        """Of the ceiling of the same round."""
        return ratio([load.per_second for load in self.loads], self.ceilings)

    @property
    def failures(self) -> int:
        """In all rounds."""
        return sum(load.failures for load in self.loads)


def measure(bench: Workbench) -> Section:
    """For each number of clients: the gateway and the bare pair in turn, three times."""
    rounds = max(2, bench.rounds // 5)
    found: dict[int, Measured] = {clients: Measured([], []) for clients in CLIENTS}
    drive(bench.port, _requests(bench, 2.0), 16, 2.0)  # the pools grow to their size
    for _ in range(rounds):
        for clients, measured in found.items():
            measured.loads.append(drive(bench.port, _requests(bench), clients, SECONDS))
            measured.ceilings.append(_ceiling(bench, clients))
    return _section(found)


def _requests(bench: Workbench, seconds: float = SECONDS) -> list[bytes]:
    keys = bench.keys(round(seconds * MOST_PER_SECOND))
    host = f"127.0.0.1:{bench.port}"
    return [get_request(host, PROFILE, {"Authorization": f"Bearer {key}"}) for key in keys]


def _ceiling(bench: Workbench, clients: int) -> float:
    """Pairs a second of so many bare clients, each a process, begun together."""
    command = [sys.executable, "-m", "tests.bench.ceiling", str(SECONDS)]
    environment = bench.door_environment("profile_read")
    with ExitStack() as stack:
        lines = []
        for number in range(clients):
            process = stack.enter_context(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    cwd=bench.root,
                    env={
                        **environment,
                        "BENCH_OWNER": bench.owner["user_id"],
                        "BENCH_KEY": f"bench#{number}",
                    },
                )
            )
            lines.append(line_pipes(process))
        for _, out in lines:
            out.readline()
        for go, _ in lines:
            go.write(b"go\n")
            go.flush()
        return sum(int(out.readline()) for _, out in lines) / SECONDS


def _section(found: dict[int, Measured]) -> Section:
    shares = {clients: one.share for clients, one in found.items()}
    worst = min(shares.items(), key=lambda item: item[1].middle)
    failures = sum(one.failures for one in found.values())
    return Section(
        "Reads a second",
        f"Clients ask for {SECONDS:.0f} s as fast as they are answered, keys taking turns so that "
        "none meets its limit; the authorizer, switches and limiter run for every read. The "
        "ceiling is as many bare processes that do nothing but UpdateItem and SELECT on the same "
        "emulator and database. All share the machine's cores.",
        tables=(
            Table(
                ("clients", "reads/s", "median ms", "99th percentile", "bare pairs/s", "share"),
                tuple(_row(clients, one) for clients, one in found.items()),
            ),
        ),
        budgets=(
            Budget(
                f"reads a second at {', '.join(map(str, CLIENTS))} clients: errors",
                "0",
                str(failures),
                failures == 0,
            ),
            Budget(
                "reads a second over the bare UpdateItem + SELECT ceiling",
                f"≥ {SHARE:.0%}",
                f"{worst[1].middle:.0%} at {worst[0]} clients, the lowest",
                worst[1].middle >= SHARE,
            ),
        ),
    )


def _row(clients: int, one: Measured) -> tuple[str, ...]:
    middle = sorted(one.loads, key=lambda load: load.per_second)[len(one.loads) // 2]
    ceiling = sorted(one.ceilings)[len(one.ceilings) // 2]
    return (
        str(clients),
        f"{middle.per_second:.0f}",
        f"{middle.quantile_ms(0.5):.1f}",
        f"{middle.quantile_ms(0.99):.1f}",
        f"{ceiling:.0f}",
        f"{one.share.middle:.0%}",
    )
