"""A process of its own that acts on one owner's conversation when it is told to begin."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from judgment.conversation import store
from judgment.conversation.approvals import Approvals
from judgment.db.connection import Database
from judgment.kit.clock import utc_now
from judgment.kit.errors import Refusal


def append(database: Database, who: uuid.UUID, conversation: str, times: str) -> str:
    """Say something so many times, each in a transaction of its own."""
    for _ in range(int(times)):
        with database.transaction(who) as tx:
            store.append(
                tx,
                who,
                conversation,
                id=str(uuid.uuid4()),
                turn_id=uuid.uuid4(),
                role="user",
                content="Hello",
                at=utc_now(),
            )
    return ""


def decide(database: Database, who: uuid.UUID, decision: str, *requests: str) -> str:
    """Answer every question; the statuses."""
    approvals = Approvals(database.transaction)
    statuses: list[str] = []
    for request in requests:
        try:
            approvals.decide(who, request, "approved" if decision == "approved" else "denied")
            statuses.append("200")
        except Refusal as refusal:
            statuses.append(str(refusal.status))
    return " ".join(statuses)


def settle(database: Database, who: uuid.UUID, *requests: str) -> str:
    """Settle every question; 1 for each that was this process's to carry out."""
    won: list[str] = []
    for request in requests:
        with database.transaction(who) as tx:
            won.append(str(int(store.settle(tx, who, uuid.UUID(request), utc_now()))))
    return " ".join(won)


DEEDS = {deed.__name__: deed for deed in (append, decide, settle)}


@contextmanager
def children(*orders: list[str]) -> Iterator[list[list[str]]]:
    """Run a process for each order, all begun at once; what each said, in words."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.integration.conversation_child", *order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in orders
    ]
    try:
        for child in running:
            assert child.stdout
            assert child.stdout.readline() == "ready\n"
        for child in running:
            assert child.stdin
            child.stdin.write("go\n")
            child.stdin.flush()
        said = [child.communicate(timeout=120)[0].split() for child in running]
        assert [child.returncode for child in running] == [0] * len(running)
        yield said
    finally:
        for child in running:
            child.kill()


if __name__ == "__main__":
    deed, url, owner, *rest = sys.argv[1:]
    connected = Database(url)
    with connected.transaction(uuid.UUID(owner)) as first:
        first.value("SELECT 1")
    print("ready", flush=True)
    sys.stdin.readline()
    print(DEEDS[deed](connected, uuid.UUID(owner), *rest))
    connected.close()
