"""Hermes, Claude Code and OpenClaw, run headless against the running stack (`--agents`).

They weigh about 1.3 GB, so the default run leaves them out; docs/agents.md records a whole run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents.difference import CASES, Case, Difference
from tests.e2e.agents.runtimes import ClaudeCode, Hermes, OpenClaw, Runtime

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack

RUNTIMES: tuple[Runtime, ...] = (Hermes(), ClaudeCode(), OpenClaw())


@pytest.mark.agents
@pytest.mark.timeout(600)
@pytest.mark.promise("000-13.16", "000-6", "000-10.1", "P1-accept-2")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_what_an_agent_tells_its_model_differs_by_skill_and_access(
    stack: RunningStack, tmp_path: Path, runtime: Runtime, case: Case
) -> None:
    Difference(runtime, stack, tmp_path).holds(case)
