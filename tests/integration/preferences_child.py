"""A child process that keeps a signal and dies where it is told to."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

from judgment.contract.preferences import CaptureRequest
from judgment.db.connection import Database
from judgment.kit.killpoints import arm
from judgment.preferences.asking import Asker
from judgment.preferences.capturing import Capturing
from judgment.queue.idempotency import idempotent
from tests.integration.outbox_child import FileBus

ROUTE = "POST /api/v1/preferences/signals"


def capture(url: str, owner: uuid.UUID, bus: Path, body: str, key: str | None) -> str:
    """Keep the signals of a request's body; what was answered, as JSON."""
    database = Database(url)

    def within(use: Any) -> Any:
        with database.transaction(owner) as tx:
            return use(tx)

    capturing = Capturing(database.transaction, FileBus(bus), idempotent)
    request = CaptureRequest.model_validate_json(body)
    answer = capturing.capture(Asker(owner, "owner", "child", within), request, key, ROUTE)
    database.close()
    return answer.model_dump_json()


def arguments(**given: str) -> list[str]:
    """How a test starts this module."""
    return [sys.executable, "-m", "tests.integration.preferences_child", json.dumps(given)]


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    arm(told["point"])
    print(
        capture(told["url"], uuid.UUID(told["owner"]), Path(told["bus"]), told["body"], told["key"])
    )
