"""Whether a key is open to an audience, asked of fifty grants; and a hundred captures at once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from judgment.preferences.grants import fold
from judgment.preferences.local.store import LocalStore
from tests.bench.peers import policies
from tests.bench.peers.peer import PeerUnavailable
from tests.bench.report import Budget, Section, Table
from tests.bench.rounds import by_own_clock
from tests.bench.series import Series, ratio
from tests.bench.workbench import BenchFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.bench.workbench import Workbench

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
SEED, GRANTS, QUESTIONS, AUDIENCES = 5, 50, 200, 5
AREAS = tuple(f"area{number}" for number in range(20))
OURS, FOLDED, PEER = "Judgment", "Judgment, history folded anew each time", policies.NAME
CALLS = 20
WHAT = f"consent check of {GRANTS} grants over {PEER}"
CAPTURES = 50
KEPT = "captures at once on one key and on many, from 2 processes: kept"


def history() -> list[dict[str, Any]]:
    """Grants to few audiences: whole areas, parts of them and single keys, some until a day."""
    chance = random.Random(SEED)
    shapes = ("{0}.*", "{0}.part.*", "{0}.part.key{1}")
    return [
        {
            "effect": "allow",
            "key_glob": chance.choice(shapes).format(chance.choice(AREAS), chance.randrange(5)),
            "audience": f"audience{chance.randrange(AUDIENCES)}",
            "level": chance.choice(("read", "solve")),
            "expires": chance.choice((None, "2027-01-01T00:00:00+00:00")),
        }
        for _ in range(GRANTS)
    ]


def questions() -> list[dict[str, str]]:
    """Keys within and without what is granted."""
    chance = random.Random(SEED + 1)
    return [
        {
            "key": f"{chance.choice(AREAS)}.{chance.choice(('part', 'else'))}"
            f".key{chance.randrange(5)}",
            "audience": f"audience{chance.randrange(AUDIENCES)}",
            "purpose": chance.choice(("read", "solve")),
        }
        for _ in range(QUESTIONS)
    ]


def as_policies(steps: list[dict[str, Any]]) -> str:
    """The same grants in Cedar; no other rule is needed for these globs."""
    purposes = {"read": '[Action::"read"]', "solve": '[Action::"read", Action::"solve"]'}
    return "\n".join(
        f'permit(principal == Audience::"{one["audience"]}", action in {purposes[one["level"]]},'
        f' resource) when {{ context.key like "{one["key_glob"]}" }};'
        for one in steps
    )


def measure(bench: Workbench) -> Section:
    """Both on their own clock in the same rounds, after they gave the same answers."""
    steps, asked = history(), questions()
    grants = fold(steps)
    answers = [grants.open(q["key"], q["audience"], q["purpose"], NOW) for q in asked]
    kept = _captured_at_once()
    try:
        with policies.opened(as_policies(steps), asked) as engine:
            if engine.decisions != answers:
                raise BenchFailed("two answers to one question of consent")
            found = _rounds(steps, asked, bench.rounds, engine)
    except PeerUnavailable as reason:
        found = _rounds(steps, asked, bench.rounds, None)
        return _section(found, Budget(WHAT, "< 1 x", f"not run: {reason}", False), kept)
    over = ratio(found[OURS].wall_ms, found[PEER].wall_ms)
    measured = f"{over.middle:.2f} x ({over.low:.2f}-{over.high:.2f})"
    return _section(found, Budget(WHAT, "< 1 x", measured, over.middle < 1), kept)


def _rounds(
    steps: list[dict[str, Any]],
    asked: list[dict[str, str]],
    rounds: int,
    engine: policies.Engine | None,
) -> Mapping[str, Series]:
    grants = fold(steps)

    def ask(of: Any) -> None:
        for one in asked:
            of.open(one["key"], one["audience"], one["purpose"], NOW)

    def anew() -> None:
        for one in asked:
            fold(steps).open(one["key"], one["audience"], one["purpose"], NOW)

    takers: dict[str, Callable[[], float]] = {
        OURS: _timed(lambda: ask(grants), CALLS),
        FOLDED: _timed(anew, 1),
    }
    if engine is not None:
        takers[PEER] = lambda: engine.milliseconds(CALLS)
    return by_own_clock(takers, rounds)


def _timed(call: Callable[[], object], calls: int) -> Callable[[], float]:
    def once() -> float:
        began = time.perf_counter()
        call()
        return (time.perf_counter() - began) / QUESTIONS

    return lambda: 1e3 * median(once() for _ in range(calls))


_CHILD = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from judgment.kit.clock import utc_now
from judgment.preferences.local.store import LocalStore
root, key, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = LocalStore(root, utc_now)
def capture(place):
    name = key if key else f"many.key{place}"
    source = {"platform": "bench", "session": sys.argv[2] or "many"}
    store.append([{"key": name, "value": place, "strength": 0.5, "source": source}])
with ThreadPoolExecutor(8) as pool:
    list(pool.map(capture, range(number)))
"""


def _captured_at_once() -> tuple[int, float]:
    """How many of a hundred captures are there afterwards, and the milliseconds a capture."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "prefs"
        began = time.perf_counter()
        command = [sys.executable, "-c", _CHILD, str(root)]
        running = [subprocess.Popen([*command, key, str(CAPTURES)]) for key in ("one.key", "")]
        if any(process.wait() for process in running):
            raise BenchFailed("a capturing process failed")
        taken = time.perf_counter() - began
        signals, bad = LocalStore(root, lambda: NOW).signals()
        found = Counter(json.dumps([signal.key, signal.value]) for signal in signals)
        if bad:
            raise BenchFailed("a capture cannot be read")
    return len(found), 1e3 * taken / (2 * CAPTURES)


def _section(found: Mapping[str, Series], budget: Budget, kept: tuple[int, float]) -> Section:
    rows = tuple((name, f"{1e3 * one.wall:.2f}") for name, one in found.items())
    number, each = kept
    lossless = Budget(KEPT, str(2 * CAPTURES), str(number), number == 2 * CAPTURES)
    return Section(
        "Consent, and captures at once",
        f"{GRANTS} grants to {AUDIENCES} audiences, {QUESTIONS} questions of one key each; both "
        "gave the same answers before they were timed. Both have read the grants beforehand, and "
        "neither looks at a file or a ledger. The peer is a general policy engine in Rust behind "
        "Python; its globs know no dots, which these grants do not need. Each in its own process, "
        f"on its own clock. A capture at once took {each:.1f} ms, processes started and each one "
        "synced to the disk included.",
        tables=(Table(("who", "microseconds a question"), rows),),
        budgets=(budget, lossless),
    )
