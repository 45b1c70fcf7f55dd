"""A group's ranking, trace and all, beside a library that counts the votes of as large a group."""

from __future__ import annotations

import cProfile
import io
import pstats
import random
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from judgment.preferences.solver import (
    Ballot,
    count,
    options_from,
    participants_from,
    solve,
    verify,
    words,
)
from tests.bench.peers.peer import PeerUnavailable
from tests.bench.peers.voting import PrefVoting, Voting
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import by_own_clock
from tests.bench.series import Series, ratio
from tests.bench.workbench import BenchFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.bench.workbench import Workbench

SEED = 20
KEYS_OF_AN_OPTION = 3
OURS, SOLVE = "Judgment, from JSON values, with trace", "of that, `solve` alone"
WORDS, VERIFY = "its words, when asked for", "`verify` of its trace, when asked for"
BORDA, BUILT = "Borda, from rankings", "of that, Borda of a profile built before"
SCHULZE = "Schulze, from rankings"


@dataclass(frozen=True)
class Size:
    """So many participants and options; `calls` a round."""

    participants: int
    options: int
    calls: int

    @property
    def name(self) -> str:
        """As in the table."""
        return f"{self.participants} x {self.options}"

    def rankings(self) -> list[list[int]]:
        """Each participant's whole order of the options."""
        chance = random.Random(SEED)
        numbers = range(self.options)
        return [chance.sample(numbers, self.options) for _ in range(self.participants)]

    def problem(self) -> tuple[list[Any], list[Any]]:
        """Options of three keys, and as many opinions a participant as a ballot has places."""
        chance = random.Random(SEED)
        keys = [f"dining.key-{number:03}" for number in range(self.options * 3 // 2)]
        options = [
            {"id": f"option-{number:03}", "keys": chance.sample(keys, KEYS_OF_AN_OPTION)}
            for number in range(self.options)
        ]
        participants = [
            {
                "id": f"person-{number:03}",
                "weights": {
                    key: round(chance.uniform(-1, 1), 6)
                    for key in chance.sample(keys, self.options)
                },
            }
            for number in range(self.participants)
        ]
        return options, participants


SIZES = (Size(6, 20, 25), Size(200, 100, 3))


def measure(bench: Workbench) -> Section:
    """Everybody by their own clock, turn by turn in each round."""
    try:
        with PrefVoting().open({size.name: size.rankings() for size in SIZES}) as peer:
            _agreed(peer)
            found = {size.name: _rounds(size, peer, bench.rounds) for size in SIZES}
    except PeerUnavailable as reason:
        found = {size.name: _rounds(size, None, bench.rounds) for size in SIZES}
        return _section(found, tuple(_not_run(size, str(reason)) for size in SIZES))
    return _section(found, tuple(_budget(size, found[size.name]) for size in SIZES))


def _agreed(peer: Voting) -> None:
    """Raises BenchFailed where the peer and our own count of the same ballots differ."""
    for size in SIZES:
        ballots = [Ballot(tuple(map(str, order))) for order in size.rankings()]
        for method, ours in (("borda", "borda"), ("schulze", "condorcet")):
            ranking = count(ballots, map(str, range(size.options)), method=ours).ranking
            first = sorted(int(one.candidate) for one in ranking if one.rank == 1)
            if first != sorted(peer.winners[f"{size.name} {method}"]):
                raise BenchFailed(f"{method} of {size.name}: two counts, two winners")


def _rounds(size: Size, peer: Voting | None, rounds: int) -> Mapping[str, Series]:
    options, participants = size.problem()
    plans, group = options_from(options), participants_from(participants)
    trace = solve(plans, group).trace
    if faults := verify(trace):
        raise BenchFailed(faults[0])
    takers: dict[str, Callable[[], float]] = {
        OURS: _timed(
            lambda: solve(options_from(options), participants_from(participants)), size.calls
        ),
        SOLVE: _timed(lambda: solve(plans, group), size.calls),
        WORDS: _timed(lambda: words(trace), 1),
        VERIFY: _timed(lambda: verify(trace), 1),
    }
    if peer is not None:
        takers |= {
            BORDA: lambda: peer.milliseconds(size.name, "borda", size.calls),
            BUILT: lambda: peer.milliseconds(size.name, "borda", size.calls, built=True),
            SCHULZE: lambda: peer.milliseconds(size.name, "schulze", 1),
        }
    return by_own_clock(takers, rounds)


def _timed(call: Callable[[], object], calls: int) -> Callable[[], float]:
    def once() -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    return lambda: 1e3 * median(once() for _ in range(calls))


def _what(size: Size) -> str:
    return f"solve {size.name} with its trace, from plain data, over pref_voting's Borda"


def _budget(size: Size, found: Mapping[str, Series]) -> Budget:
    over = ratio(found[OURS].wall_ms, found[BORDA].wall_ms)
    return Budget(
        _what(size),
        "< 1 x",
        f"{over.middle:.2f} x ({over.low:.2f}-{over.high:.2f})",
        over.middle < 1,
    )


def _not_run(size: Size, why: str) -> Budget:
    return Budget(_what(size), "< 1 x", f"not run: {why}", False)


def _section(found: Mapping[str, Mapping[str, Series]], budgets: tuple[Budget, ...]) -> Section:
    rows = [
        (name, size, f"{one.wall:.3f}", f"{one.quiet:.3f}")
        for size, cases in found.items()
        for name, one in cases.items()
    ]
    profiles = {"Where a solve goes": _profile(SIZES[0])} if missed(budgets) else {}
    return Section(
        "A group's ranking",
        f"Participants x options. Each participant holds as many opinions as a ballot has places, "
        f"and an option touches {KEYS_OF_AN_OPTION} keys. Both sides begin with plain lists and "
        "numbers and check them; the peer's answer is the winners, ours is the ranking with every "
        "number that leads to it. Each in its own process, on its own clock, in the same rounds; "
        "the peer has compiled what it compiles before the first. Our own counts of its ballots "
        f"name the same winners. Peer: {PrefVoting.name}.",
        tables=(Table(("what", "size", "wall ms", "quietest"), tuple(rows)),),
        budgets=budgets,
        profiles=profiles,
    )


def _profile(size: Size) -> str:
    options, participants = size.problem()
    with cProfile.Profile() as profile:
        for _ in range(200):
            solve(options_from(options), participants_from(participants))
    text = io.StringIO()
    pstats.Stats(profile, stream=text).strip_dirs().sort_stats("tottime").print_stats(12)
    return text.getvalue()
