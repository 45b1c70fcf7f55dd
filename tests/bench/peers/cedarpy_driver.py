"""Runs inside cedarpy's own environment: policies and questions in, decisions and times out.

Policies and entities are parsed once, before the first question, and no pipe is timed.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median


def main() -> None:
    """Answer each input line, a JSON object, with one line of JSON."""
    from cedarpy import Entities, PolicySet, is_authorized

    asked = json.loads(sys.stdin.readline())
    policies, entities = PolicySet.from_str(asked["policies"]), Entities.from_json_str("[]")
    questions = [
        {
            "principal": {"type": "Audience", "id": one["audience"]},
            "action": {"type": "Action", "id": one["purpose"]},
            "resource": {"type": "Owner", "id": "me"},
            "context": {"key": one["key"]},
        }
        for one in asked["questions"]
    ]

    def decide() -> list[bool]:
        return [is_authorized(one, policies, entities).allowed for one in questions]

    print(json.dumps(decide()), flush=True)
    for line in sys.stdin:
        taken = []
        for _ in range(json.loads(line)["calls"]):
            began = time.perf_counter()
            decide()
            taken.append((time.perf_counter() - began) / len(questions))
        print(json.dumps(1e3 * median(taken)), flush=True)


if __name__ == "__main__":
    main()
