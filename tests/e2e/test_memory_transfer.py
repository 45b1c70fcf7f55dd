"""A memory root into the running stack by the command line, and out of it again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.somebody import Somebody
from tests.fakes.memory_roots import braindrive_root, git, log, tree, write

if TYPE_CHECKING:
    import httpx

    from tests.e2e.running import RunningStack

pytestmark = pytest.mark.promise("P4-memory-import", "P4-refuse", "R-33", "002-29")
ENTRY = "import sys; from judgment.cli.main import main; sys.exit(main())"
CONVERSATION = """---
id: "old-talk"
title: "An old talk"
created_at: "2026-01-31T12:34:56.789Z"
updated_at: "2026-01-31T12:34:56.789Z"
message_count: 1
active_skill_ids: []
---

## message m1
```json
{"id":"m1","role":"user","timestamp":"2026-01-31T12:34:56.789Z","content":"hello from before"}
```
"""


class Moving(Somebody):
    """An owner at a terminal."""

    def run(self, *words: str, code: int = 0) -> Any:
        """`judgment memory` with these words; the JSON it prints, or what it says."""
        environment = {
            "PATH": os.environ["PATH"],
            "SYNC_API_URL": str(self.api.base_url).rstrip("/"),
            "SYNC_OWNER_TOKEN": self.token,
        }
        done = subprocess.run(
            [sys.executable, "-c", ENTRY, "memory", *words],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr


@pytest.fixture
def me(stack: RunningStack, api: httpx.Client) -> Moving:
    return Moving(stack, api)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    braindrive_root(made)
    large = {"exports/large.bin": bytes(range(251)) * 20_000}
    write(made, {**large, "conversations/old-talk.md": CONVERSATION.encode()})
    return made


def test_a_root_lives_here_and_leaves_byte_for_byte(me: Moving, root: Path, tmp_path: Path) -> None:
    me.ask("GET", "/projects")  # the starter pack is there before
    said = me.run("import", str(root))
    assert said["conversations"] == 1
    assert said["history"]["commits"] == 8
    assert me.ask("GET", "/profile")["content"] == (root / "me/profile.md").read_text()
    talked = me.ask("GET", "/conversations/old-talk")
    assert [one["content"] for one in talked["messages"]] == ["hello from before"]
    me.run("export", str(tmp_path / "back"))
    mine, theirs = tree(root), tree(tmp_path / "back")
    assert {path: theirs[path] for path in mine} == mine
    assert git(tmp_path / "back", "status", "--porcelain") == b""
    messages = [message for _, _, message in log(tmp_path / "back")]
    for _, _, message in log(root):
        assert message in messages
    again = me.run("import", str(root))
    assert (again["files"], again["commits"]) == (0, 0)


def test_an_edit_of_the_owners_is_not_overwritten_unasked(me: Moving, root: Path) -> None:
    me.run("import", str(root))
    me.ask("PUT", "/profile", {"content": "# Mine\n"})
    assert "me/profile.md" in me.run("import", str(root), code=1)
    assert me.ask("GET", "/profile")["content"] == "# Mine\n"
    me.run("import", str(root), "--on-conflict", "replace")
    assert me.ask("GET", "/profile")["content"] == (root / "me/profile.md").read_text()


def test_nobody_else_sees_it(
    me: Moving, root: Path, stack: RunningStack, api: httpx.Client, tmp_path: Path
) -> None:
    me.run("import", str(root))
    other = Moving(stack, api)
    other.run("export", str(tmp_path / "other"))
    assert not any(path.startswith(("exports/", "side")) for path in tree(tmp_path / "other"))
