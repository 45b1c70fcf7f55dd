"""Runs inside pref_voting's own environment: rankings in, then each counted as often as asked.

It takes its own times, so that no pipe is timed, and once without time so that nothing is
compiled in it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from statistics import median


def main() -> None:
    """Answer each input line, a JSON object, with one line of JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from pref_voting.margin_based_methods import beat_path
    from pref_voting.profiles import Profile
    from pref_voting.scoring_methods import borda

    methods = {"borda": borda, "schulze": beat_path}
    rankings: dict[str, list[list[int]]] = {}

    def count(size: str, method: str, profile=None):
        return methods[method](profile or Profile(rankings[size]))

    for line in sys.stdin:
        asked = json.loads(line)
        if "rankings" in asked:
            rankings = asked["rankings"]
            winners = {
                f"{size} {method}": [int(one) for one in count(size, method)]
                for size in rankings
                for method in methods
            }
            answers.write(json.dumps(winners) + "\n")
        else:
            size, method = asked["size"], asked["method"]
            profile = Profile(rankings[size]) if asked["built"] else None
            taken = []
            for _ in range(asked["calls"]):
                began = time.perf_counter()
                count(size, method, profile)
                taken.append(time.perf_counter() - began)
            answers.write(json.dumps(1e3 * median(taken)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
