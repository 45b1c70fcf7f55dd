"""The skill's commands, run as an agent would run them, in a home of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.skills.skill_pages import SKILL, code, command_lines, fences, rows

PAGE = SKILL / "SKILL.md"
PREFS = Path(sys.executable).parent / "prefs"
KEY = "dining.cuisine.thai"


@dataclass(frozen=True)
class Owner:
    """An owner's machine: nothing of this one's is seen."""

    home: Path

    def run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a line of the skill with its upper-case words filled in."""
        filled = {
            "PLATFORM": "codex",
            "SESSION": "s-1",
            "KEY": KEY,
            "GROUP": "friends",
            "FILE": str(self.home / "batch.json"),
        }
        later = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%d")
        dated = [re.sub(r"\d{4}-\d\d-\d\d", later, filled.get(word, word)) for word in words[1:]]
        return subprocess.run(
            [str(PREFS), *dated],
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def done(self, words: list[str]) -> Any:
        """The JSON of a line that must succeed; None where it prints something else."""
        ran = self.run(words)
        assert ran.returncode == 0, f"{words}: {ran.stdout} {ran.stderr}"
        return json.loads(ran.stdout) if ran.stdout.startswith(("{", "[")) else None


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    assert PREFS.exists()
    return Owner(tmp_path)


def _passes(owner: Owner, row: list[str]) -> bool:
    """Whether a probe passes by what its row says."""
    words, passes = row[1].strip("`").split(), row[2]
    ran = owner.run(words)
    assert "Traceback" not in ran.stderr
    if ran.returncode != 0:
        return False
    if "`keys` is not empty" in passes:
        return json.loads(ran.stdout)["keys"] != {}
    if "`outcome`" in passes:
        return json.loads(ran.stdout)["outcome"] in re.findall(r"`(\w+)`", passes)[1:]
    if passes == "it prints a block":
        return ran.stdout.strip() != ""
    assert passes == "it exits with 0"
    return True


def _first_failure(owner: Owner) -> str | None:
    """Where the table sends an agent now."""
    for row in rows(PAGE, "#"):
        if not _passes(owner, row):
            return re.findall(r"\]\(#([a-z-]+)\)", row[3])[0]
    return None


def _line(*beginning: str) -> list[str]:
    """The skill's complete line that begins so."""
    lines = [line for line in command_lines(PAGE) if line[1 : len(beginning) + 1] == [*beginning]]
    return max(lines, key=len)


@pytest.mark.promise("P3-skill")
def test_the_probes_lead_an_agent_from_nothing_to_all_set(owner: Owner) -> None:
    assert _first_failure(owner) == "nothing-known-yet"
    assert _first_failure(owner) == "nothing-known-yet", "asking changes nothing"
    owner.done(_line("capture"))
    assert _first_failure(owner) == "session-starts"
    owner.done(["prefs", "install-hooks", "--platform", "PLATFORM"])
    assert _first_failure(owner) is None
    (owner.home / ".local/share/judgment/prefs/compiled.json").write_text("not a document")
    assert _first_failure(owner) == "set-up"
    owner.done(["prefs", "onboard"])
    assert _first_failure(owner) is None


@pytest.mark.promise("P3-skill")
def test_every_complete_line_of_the_skill_runs_in_the_order_of_the_page(owner: Owner) -> None:
    [options] = [span for span in code(PAGE) if span.startswith('[{"id"')]
    (owner.home / "options.json").write_text(options)
    [batch] = fences(SKILL / "references/agents.md", "json")
    (owner.home / "batch.json").write_text(batch)
    owner.done(_line("capture"))
    granted = ["--key-glob", "*", "--level", "solve", "--audience", "GROUP"]
    owner.done(["prefs", "consent", "grant", *granted])
    document = owner.done(["prefs", "get"])
    (owner.home / "participants.json").write_text(json.dumps({"me": document}))
    ran = [line for line in command_lines(PAGE) if len(line) > 2 and "--help" not in line]
    for line in ran:
        owner.done(line)
    assert len(ran) > 15
    assert owner.done(["prefs", "get"])["keys"] == {}, "the last line forgets the key"


@pytest.mark.promise("P3-skill", "P3-consent")
def test_what_the_skill_grants_is_shown_logged_and_taken_back(owner: Owner) -> None:
    owner.done(_line("capture"))
    seen = _line("get", "--for", "bob")
    refused = owner.run(seen)
    assert KEY not in refused.stdout
    owner.done(_line("consent", "grant"))
    shown = owner.done(seen)
    assert set(shown["keys"]) == {KEY}
    assert "sources" not in shown["keys"][KEY]
    owner.done(_line("consent", "revoke"))
    assert KEY not in owner.run(seen).stdout
    kinds = [entry["kind"] for entry in owner.done(_line("ledger", "show"))["entries"]]
    assert kinds.count("disclosure") == 1
    assert kinds.count("denial") == 2


@pytest.mark.promise("P3-skill", "P3-defect-14")
def test_a_change_of_mind_by_the_skills_options_holds(owner: Owner) -> None:
    said = _line("capture")
    owner.done(said)
    changed = [*said, "--corrects"]
    changed[changed.index("--value") + 1] = '{"liked": false}'
    changed[changed.index("--strength") + 1] = "-0.7"
    owner.done(changed)
    entry = owner.done(["prefs", "get"])["keys"][KEY]
    assert entry["value"] == {"liked": False}
    assert entry["weight"] == pytest.approx(-0.7, abs=0.001)
