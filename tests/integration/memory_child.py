"""A child process that is a turn of one owner: it carries out the calls it is told, line by line.

A line in is JSON `{who, do, name, arguments}`, a line out what came of it. `do`: `call` prepares
and runs in one transaction, `prepare` and `run` are the halves of it, `keep` is the owner's own
hand, `forget` begins another turn.
"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Mapping
from typing import Any

from judgment.db.connection import Database
from judgment.memory.model import MemoryFailure
from tests.fakes.memory_hands import ROLE, Hand


class Turns:
    """What the child keeps: a turn for each owner, and what is prepared."""

    def __init__(self, url: str):
        self._memory = Database(url)
        self._hands: dict[str, Hand] = {}
        self._prepared: Any = None

    def told(self, line: str) -> Any:
        """What came of one line."""
        order = json.loads(line)
        who = order["who"]
        if order["do"] == "forget":
            self._hands.pop(who, None)
            return {}
        hand = self._hands.setdefault(who, Hand(self._memory, uuid.UUID(who)))
        if order["do"] == "keep":
            texts = order["arguments"]
            made = hand.keep({path: text.encode() for path, text in texts.items()})
            return {"commit": made and made.id}
        try:
            return self._carried_out(hand, order)
        except MemoryFailure as failure:
            return {"failure": failure.output()}

    def _carried_out(self, hand: Hand, order: Mapping[str, Any]) -> Any:
        with hand.begin() as tx:
            if order["do"] != "run":
                self._prepared = hand.tools.prepare(
                    tx, hand.who, order["name"], order["arguments"], hand.seen
                )
            prepared = self._prepared
            if order["do"] == "prepare":
                return {"expected": prepared.expected}
            ran = hand.tools.run(tx, hand.who, prepared)
        hand.seen.update(ran.seen)
        expected, seen = dict(prepared.expected), dict(ran.seen)
        return {"output": ran.output, "expected": expected, "seen": seen}


class Child:
    """The process, from outside."""

    def __init__(self, url: str):
        command = [sys.executable, "-m", "tests.integration.memory_child", url]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, who: uuid.UUID, do: str, name: str = "", **arguments: Any) -> None:
        """Tell it what to do; it begins at once."""
        assert self._process.stdin
        line = {"who": str(who), "do": do, "name": name, "arguments": arguments}
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """What came of the first thing it was told and did not answer yet."""
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def ask(self, who: uuid.UUID, do: str, name: str = "", **arguments: Any) -> Any:
        """Both."""
        self.send(who, do, name, **arguments)
        return self.answer()

    def close(self) -> None:
        """No more lines: it ends."""
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


def url_of(database: Any) -> str:
    """Where a child finds a test's database."""
    return database.url(ROLE)


if __name__ == "__main__":
    turns = Turns(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(turns.told(line)), flush=True)
