"""The revision that guarded runs are compared with is there, and holds messages and no process."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.architecture.source import ROOT

RECORD = ROOT / "docs/decisions/116-the-pre-guardrail-baseline.md"


def git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
    )


@pytest.mark.promise("P4-baseline")
def test_the_baseline_is_a_revision_of_this_repository_before_any_process() -> None:
    if git("rev-parse", "--git-dir").returncode:
        pytest.skip("no repository here, only its files")
    (revision,) = set(re.findall(r"\b[0-9a-f]{40}\b", RECORD.read_text(encoding="utf-8")))
    assert git("merge-base", "--is-ancestor", revision, "HEAD").returncode == 0
    listed = git("ls-tree", "-r", "--name-only", revision).stdout.splitlines()
    assert "functions/guarded_message/app.py" in listed
    assert "shared/judgment/conversation/turn.py" in listed
    assert not [path for path in listed if path.startswith("shared/judgment/process/")]
