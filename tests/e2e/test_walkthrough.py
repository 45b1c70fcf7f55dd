"""The recorded terminal walk-through is what a terminal shows today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.walkthrough import BLOCK, COMMAND, PAGE, recorded, settled

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.promise("P3-readme", "001-cli", "001-tier-1")
def test_every_command_of_the_walkthrough_prints_what_is_recorded(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert settled(recorded(page, tmp_path)) == settled(page)


@pytest.mark.promise("P3-readme")
def test_the_walkthrough_shows_every_step_from_capture_to_session_start() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = " ".join(c for _, block in BLOCK.findall(page) for c in COMMAND.findall(block))
    verbs = ("onboard", "capture", "get", "why", "diff", "solve", "consent grant", "consent revoke")
    for verb in (*verbs, "ledger show", "ledger verify", "inject", "install-hooks", "doctor"):
        assert f"prefs {verb}" in shown
