"""A child process that captures from several threads at once when it is told to begin.

Arguments: folder, its own name, captures on the one key, captures on keys of their own.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from judgment.preferences.local.store import LocalStore
from tests.unit.preferences.local.stores import Clock, statement

THREADS = 8


def main(folder: str, name: str, shared: int, own: int) -> None:
    """Capture all of it, compiling now and then, and say how many were new."""
    store = LocalStore(Path(folder), Clock())
    wanted = [statement("the.one.key", f"{name} {n}") for n in range(shared)]
    wanted += [statement(f"own.{name}.{n}", n) for n in range(own)]
    print("ready", flush=True)
    sys.stdin.readline()

    def capture(number: int) -> int:
        kept = store.append([wanted[number]])
        if number % 10 == 0:
            store.compile()
        return sum(one.is_new for one in kept)

    with ThreadPoolExecutor(THREADS) as pool:
        print(sum(pool.map(capture, range(len(wanted)))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
