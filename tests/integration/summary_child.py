"""A child process that renews a summary over the wire, and dies where it is told to.

Arguments: database URL, owner, the provider's root URL, the moment, kill point (or `none`).
"""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.db.connection import Database
from judgment.kit.deadline import Deadline
from judgment.kit.ids import new_id
from judgment.kit.killpoints import arm
from judgment.llm import store as model_rows
from judgment.llm.client import ModelClient
from judgment.llm.settings import ModelSettings, configured
from judgment.summary.regenerate import Accounts, Regeneration

if TYPE_CHECKING:
    from judgment.llm.model import ModelChoice


class NoKey:
    """A provider on this machine wants none."""

    def key(self, choice: ModelChoice) -> str | None:
        """See `judgment.llm.keys.ModelKeys.key`."""
        return None


def main(url: str, owner: str, provider: str, now: str, point: str) -> None:
    """One wake-up."""
    arm(point)
    database = Database(url)
    config = configured(
        ModelSettings(
            model_summary="openai-compatible:fake-model",
            openai_compatible_base_url=f"{provider}/v1",
        )
    )
    regeneration = Regeneration(
        database.transaction,
        Accounts(lambda tx, user_id, role: None, partial(model_rows.record_calls, new_id=new_id)),
        ModelClient(config, NoKey()),
        clock=lambda: datetime.fromisoformat(now),
    )
    print(regeneration.run(UUID(owner), Deadline.after(60)).ending)
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
