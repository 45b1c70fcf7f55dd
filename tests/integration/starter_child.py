"""A child process that seeds an owner's memory and says whether it was the one that did."""

from __future__ import annotations

import json
import sys
import uuid
from datetime import UTC, datetime

from judgment.db.connection import Database
from judgment.memory.starter import seed

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def arguments(url: str, owner: uuid.UUID) -> list[str]:
    """How a test starts this module."""
    return [sys.executable, "-m", "tests.integration.starter_child", url, str(owner)]


if __name__ == "__main__":
    database, who = Database(sys.argv[1]), uuid.UUID(sys.argv[2])
    with database.transaction(who) as tx:
        did = seed(tx, who, NOW)
    database.close()
    print(json.dumps(did))
