"""Codex, run headless against the running stack with a scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents.difference import CASES, Case, Difference
from tests.e2e.agents.runtimes import Codex

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack


@pytest.mark.promise("000-13.16", "000-6", "000-10.1", "P1-accept-2", "000-1", "000-13")
@pytest.mark.parametrize("case", CASES)
def test_what_codex_tells_its_model_differs_by_skill_and_access(
    stack: RunningStack, tmp_path: Path, case: Case
) -> None:
    Difference(Codex(), stack, tmp_path).holds(case)
