"""`./dev bench`: measure everything and write docs/benchmarks.md.

`--only NAME` prints one measurement and writes nothing; `--rounds N` makes a run shorter.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from pathlib import Path

from tests.bench.machine import describe
from tests.bench.report import Section, place, render
from tests.bench.workbench import ROOT, Workbench

PAGE = ROOT / "docs" / "benchmarks.md"
MEASUREMENTS = (
    *("reads", "gateway", "memories", "throughput", "growth", "submissions", "cold"),
    *("compiling", "solving", "consent", "preference_reads", "cli_cold"),
    *("messages", "memory_transfer"),
)


def main(arguments: list[str]) -> int:
    """0 when everything was measured, whatever the verdicts; 1 when something could not be."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--only", choices=MEASUREMENTS, action="append")
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args(arguments)
    machine = describe()
    bench = Workbench(rounds=chosen.rounds)
    try:
        found, failed = _measured(bench, chosen.only or MEASUREMENTS)
    finally:
        bench.close()
    text = render(found, machine)
    print(text)
    for name, what in failed.items():
        print(f"bench: {name} was not measured\n{what}", file=sys.stderr)
    if failed or chosen.only:
        print("bench: docs/benchmarks.md is left as it was", file=sys.stderr)
        return 1 if failed else 0
    _write(PAGE, text)
    return 0


def _measured(bench: Workbench, names: list[str]) -> tuple[list[Section], dict[str, str]]:
    """The sections, and for each measurement that broke its traceback."""
    found: list[Section] = []
    failed: dict[str, str] = {}
    for name in names:
        began = time.monotonic()
        try:
            found.append(importlib.import_module(f"tests.bench.measurements.{name}").measure(bench))
        except Exception:  # noqa: BLE001  (one broken measurement must not hide the others)
            failed[name] = traceback.format_exc()
        print(f"bench: {name}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    return found, failed


def _write(page: Path, text: str) -> None:
    page.write_text(place(page.read_text(), text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
