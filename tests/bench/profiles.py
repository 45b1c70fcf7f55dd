"""Where the time of a call goes, short enough to stand under a missed budget.

Files are named by their last two parts, so that no machine's folders get into the docs.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOP = 25
Stats = dict[tuple[str, int, str], tuple[int, int, float, float, Any]]


def profiled(call: Callable[[], object], times: int = 300) -> str:
    """The functions in which `times` calls spend most, in microseconds a call.

    The profiler makes Python functions look slower than C ones; read shares, not times.
    """
    recorder = cProfile.Profile()
    recorder.enable()
    for _ in range(times):
        call()
    recorder.disable()
    return rendered(pstats.Stats(recorder).stats, times)  # type: ignore[attr-defined]


def rendered(stats: Stats, times: int) -> str:
    """The `TOP` rows by own time: calls a call, own and cumulative microseconds a call."""
    rows = sorted(stats.items(), key=lambda item: item[1][2], reverse=True)[:TOP]
    lines = [f"{'calls':>7} {'own us':>9} {'with callees':>13}  function"]
    for (file, line, name), (_, calls, own, cumulative, _) in rows:
        lines.append(
            f"{calls / times:7.1f} {1e6 * own / times:9.1f} {1e6 * cumulative / times:13.1f}  "
            f"{_place(file, line, name)}"
        )
    return "\n".join(lines)


def _place(file: str, line: int, name: str) -> str:
    if file == "~":
        return name
    return f"{'/'.join(Path(file).parts[-2:])}:{line} {name}"
