"""From signals to documents: as many as a person makes in a life, and ten times that."""

from __future__ import annotations

import cProfile
import gc
import io
import json
import pstats
import random
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from judgment.kit.hashing import canonical_json
from judgment.preferences.compiling import compile_signals
from judgment.preferences.signals import read_lines, signal_from, stored
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import by_own_clock
from tests.bench.series import Series, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from judgment.preferences.model import Signal
    from tests.bench.workbench import Workbench

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
SIZES = (1_000, 10_000, 100_000)
SEED = 3
PER_KEY = 5
SUPERSEDED_ONE_IN = 50
SCOPES = ("global",) * 7 + ("platform:codex", "platform:claude-code", "platform:hermes")
VALUES = (True, "tabs", {"liked": True, "note": "in words"}, 0.25)
COMPILE, READ, LOADS = "compile", "read, validate, compile", "`json.loads` of the same lines"
APART = "compile, every signal on a key of its own"
COLLECTING = "compile, with Python's collector running"
MIDDLE, LARGEST = SIZES[1], SIZES[2]
MILLISECONDS, TIMES, GROWTH = 28.0, 5.0, 2.0


def life(size: int, per_key: int = PER_KEY) -> list[Signal]:
    """So many signals: a few statements a key, three platforms, some that supersede others."""
    chance = random.Random(SEED)
    made: list[Signal] = []
    latest: dict[str, str] = {}
    for place in range(size):
        number = chance.randrange(max(1, size // per_key)) if per_key > 1 else place
        key = f"area{number % 40}.topic{number % 997}.key{number}"
        replaces = latest.get(key) if chance.randrange(SUPERSEDED_ONE_IN) == 0 else None
        heard = NOW - timedelta(seconds=chance.randrange(400 * 86_400))
        payload = {
            "key": key,
            "value": chance.choice(VALUES),
            "strength": round(chance.uniform(-1, 1), 2),
            "confidence": chance.choice((1.0, 0.9, 0.5)),
            "half_life_days": chance.choice((90, 180, None)),
            "scope": chance.choice(SCOPES),
            "observed_at": heard.isoformat(),
            "source": {"platform": "codex", "session": f"s{place // 9}", "sequence": place % 9},
            "supersedes": replaces,
        }
        signal = signal_from(payload, received_at=NOW)
        made.append(replace(signal, position=place + 1, recorded_at=NOW))
        latest[key] = signal.id
    return made


def measure(bench: Workbench) -> Section:
    """Each size in its own rounds, what is compared turn by turn in each."""
    found = {size: _rounds(size, bench.rounds if size < LARGEST else 3) for size in SIZES}
    return _section(found)


def _rounds(size: int, rounds: int) -> Mapping[str, Series]:
    signals, apart = life(size), life(size, per_key=1)
    lines = [canonical_json(stored(signal)) for signal in signals]
    calls = max(1, 20_000 // size)
    takers: dict[str, Callable[[], float]] = {
        COMPILE: _timed(lambda: compile_signals(signals, NOW), calls),
        READ: _timed(lambda: compile_signals(read_lines(lines)[0], NOW), calls),
        LOADS: _timed(lambda: [json.loads(line) for line in lines], calls),
        APART: _timed(lambda: compile_signals(apart, NOW), calls),
        COLLECTING: _timed(lambda: compile_signals(signals, NOW), calls, collecting=True),
    }
    return by_own_clock(takers, rounds)


def _timed(
    call: Callable[[], object], calls: int, *, collecting: bool = False
) -> Callable[[], float]:
    def once() -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    def all_of_them() -> float:
        with _collector(collecting):
            return 1e3 * median(once() for _ in range(calls))

    return all_of_them


@contextmanager
def _collector(running: bool) -> Iterator[None]:
    """As `timeit` does, so that one side's rubbish is not swept in the other side's time."""
    if running:
        yield
        return
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _section(found: Mapping[int, Mapping[str, Series]]) -> Section:
    middle, largest = found[MIDDLE], found[LARGEST]
    over = ratio(middle[READ].wall_ms, middle[LOADS].wall_ms)
    growth = largest[COMPILE].wall / LARGEST / (middle[COMPILE].wall / MIDDLE)
    budgets = (
        Budget(
            f"compile of {MIDDLE:,} validated signals, median",
            f"≤ {MILLISECONDS:.0f} ms",
            f"{middle[COMPILE].wall:.1f} ms",
            middle[COMPILE].wall <= MILLISECONDS,
        ),
        Budget(
            f"read, validate and compile {MIDDLE:,} signals over `json.loads` of the same bytes",
            f"≤ {TIMES:.0f} x",
            f"{over.middle:.2f} x ({over.low:.2f}-{over.high:.2f})",
            over.middle <= TIMES,
        ),
        Budget(
            f"compile time of one signal among {LARGEST:,} over one among {MIDDLE:,}",
            f"linear (≤ {GROWTH:.0f} x)",
            f"{growth:.2f} x",
            growth <= GROWTH,
        ),
    )
    rows = [
        (name, f"{size:,}", f"{one.wall:.2f}", f"{1e3 * one.wall / size:.2f}")
        for size, cases in found.items()
        for name, one in cases.items()
    ]
    return Section(
        "From signals to documents",
        f"About {PER_KEY} statements a key, three platforms beside the global document, one in "
        f"{SUPERSEDED_ONE_IN} supersedes an earlier one. Compiling makes every document and its "
        "digest; reading begins with the stored lines. Python's collector is off while a case is "
        "timed, as `timeit` has it, but for the last row, where most of what it walks through is "
        "the signals that the bench itself holds. What one signal takes grows with what no longer "
        "fits into the processor's caches.",
        tables=(Table(("what", "signals", "wall ms", "microseconds a signal"), tuple(rows)),),
        budgets=budgets,
        profiles={"Where a compile goes": _profile()} if missed(budgets) else {},
    )


def _profile() -> str:
    signals = life(MIDDLE)
    with cProfile.Profile() as profile:
        for _ in range(5):
            compile_signals(signals, NOW)
    text = io.StringIO()
    pstats.Stats(profile, stream=text).strip_dirs().sort_stats("tottime").print_stats(12)
    return text.getvalue()
