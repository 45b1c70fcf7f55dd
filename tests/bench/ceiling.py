"""One bare client in a process of its own: UpdateItem and SELECT, again and again.

`python -m tests.bench.ceiling` connects and prints `ready`; for each line of seconds it reads, it
asks for so long and prints how many pairs it made. Its environment is that of the read door, and
`BENCH_PAIR` (JSON) holds the door's own SELECT, whom it is for, and its own UpdateItem.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import boto3
import psycopg


def main() -> None:
    """Ask as fast as it is answered, one after the other: nothing is checked or built."""
    pair_of = json.loads(os.environ["BENCH_PAIR"])
    select, owner, update = pair_of["select"].encode(), pair_of["owner"], pair_of["update"]
    dynamodb: Any = boto3.client("dynamodb")
    connection = psycopg.connect(
        os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=None
    )
    connection.execute("SELECT set_config('request.jwt.claim.sub', %s, false)", (owner,))

    def pair() -> None:
        dynamodb.update_item(**update)
        assert connection.execute(select, {"user_id": owner}).fetchone() is not None

    pair()
    print("ready", flush=True)
    for line in sys.stdin:
        count, ends = 0, time.perf_counter() + float(line)
        while time.perf_counter() < ends:
            pair()
            count += 1
        print(count, flush=True)


if __name__ == "__main__":
    main()
