"""A child process that asks for a round and dies between the model's answer and the commit.

Arguments: database URL of `judgment_owner`, owner.
"""

from __future__ import annotations

import sys
from uuid import UUID

from judgment.access.limits import Limit, RateLimiter
from judgment.db.connection import Database
from judgment.kit.deadline import Deadline
from judgment.kit.killpoints import arm
from judgment.scenarios.personal.making import DAY, PersonalRounds
from tests.fakes.bus import FakeBus
from tests.fakes.counters import MemoryCounters
from tests.fakes.models import ScriptedModels
from tests.fakes.workshop import filled


def main(url: str, owner: str) -> None:
    """Make a round; say that it was counted before the model is asked."""
    arm("scenario.answered")
    counters = MemoryCounters()

    def script(role: str, prompt: object, shape: type) -> str:
        assert counters.uses("personal_scenarios", owner) == 1
        print("counted", flush=True)
        return filled(role, prompt, shape)

    rounds = PersonalRounds(
        Database(url).transaction,
        ScriptedModels(script),
        lambda tx, user_id, role: None,
        RateLimiter(counters, lambda: None),
        Limit("personal_scenarios", 20, DAY),
        FakeBus(),
    )
    rounds.make(UUID(owner), "child", Deadline.after(20), lambda why: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
