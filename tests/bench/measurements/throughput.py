"""Reads a second through the gateway, all guards on, beside the bare pair of calls."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, NamedTuple

from judgment.profile.store import QUERIES
from tests.bench.accounting import cpu_by_part, rendered
from tests.bench.load import Load, drive, get_request
from tests.bench.measurements.events import authorized_event
from tests.bench.peers.processes import line_pipes
from tests.bench.recording import listening
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.series import Spread, ratio
from tests.bench.workbench import PROFILE, Reader

if TYPE_CHECKING:
    from tests.bench.workbench import Workbench

Pipes = tuple[IO[bytes], IO[bytes]]

CLIENTS = (1, 4, 8, 16)
SHARE = 0.40
SECONDS = 2.0
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
    """In every round, for each number of clients, the gateway and the bare pair in turn."""
    found: dict[int, Measured] = {clients: Measured([], []) for clients in CLIENTS}
    with _bare_clients(bench, max(CLIENTS)) as bare:
        drive(bench.port, _requests(bench), max(CLIENTS), SECONDS)  # the pools grow to their size
        for _ in range(max(3, bench.rounds // 2)):
            for clients, measured in found.items():
                measured.loads.append(drive(bench.port, _requests(bench), clients, SECONDS))
                measured.ceilings.append(_pairs_a_second(bare[:clients]))
    section = _section(found)
    if not missed(section.budgets):
        return section
    parts = cpu_by_part(Reader(bench), 300, bench.supervisor)
    return replace(section, profiles={"Where the CPU of a read goes": rendered(parts)})


def _requests(bench: Workbench) -> list[bytes]:
    keys = bench.keys(round(SECONDS * MOST_PER_SECOND))
    host = f"127.0.0.1:{bench.port}"
    return [get_request(host, PROFILE, {"Authorization": f"Bearer {key}"}) for key in keys]


@contextmanager
def _bare_clients(bench: Workbench, count: int) -> Iterator[list[Pipes]]:
    """So many processes that can make bare pairs, connected and waiting."""
    environment = bench.door_environment("profile_read")
    pair = _pair(bench)
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.bench.ceiling"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    cwd=bench.root,
                    env={**environment, "BENCH_PAIR": pair(number)},
                )
            )
            for number in range(count)
        ]
        clients = [line_pipes(process) for process in processes]
        for _, answers in clients:
            answers.readline()
        yield clients


def _pair(bench: Workbench) -> Callable[[int], str]:
    """The read door's UpdateItem, on a counter of each client's own, and its SELECT."""
    event = authorized_event(bench)
    with bench.as_door("profile_read"):
        from functions.profile_read.handler import handler

        handler(event, None)
        with listening() as heard:
            handler(event, None)
    [(_, update)] = heard.operations

    def pair(number: int) -> str:
        own = {**update, "Key": {"pk": {"S": f"bench#{number}"}}}
        owner = bench.owner["user_id"]
        return json.dumps({"select": QUERIES["stored_profile"], "owner": owner, "update": own})

    return pair


def _pairs_a_second(clients: Sequence[Pipes]) -> float:
    """What these bare clients do together in `SECONDS`."""
    for orders, _ in clients:
        orders.write(f"{SECONDS}\n".encode())
        orders.flush()
    return sum(int(answers.readline()) for _, answers in clients) / SECONDS


def _section(found: dict[int, Measured]) -> Section:
    shares = {clients: one.share for clients, one in found.items()}
    worst = min(shares.items(), key=lambda item: item[1].middle)
    failures = sum(one.failures for one in found.values())
    return Section(
        "Reads a second",
        f"Clients ask for {SECONDS:.0f} s as fast as they are answered, keys taking turns so that "
        "none meets its limit; the authorizer, switches and limiter run for every read. The "
        "ceiling is as many bare processes that do nothing but the read's own UpdateItem and "
        "SELECT, on the same emulator and database. All share the machine's cores.",
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
