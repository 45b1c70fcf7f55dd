"""What cannot come along is said before anything is sent; what a repository holds is never run."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from judgment.kit.errors import Unavailable
from judgment.memory.transfer.lines import FILE_BYTES
from tests.fakes.memory_roots import commit, git, tree, write
from tests.fakes.transfers import commit_id

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.memory.conftest import Shell

pytestmark = pytest.mark.promise("P4-memory-import", "P4-refuse")


def _refused_root(root: Path) -> dict[str, str]:
    """A root of two good files and everything that cannot be imported, with why."""
    write(root, {"good.md": b"good", "also/good.md": b"good"})
    write(root, {"Good.md": b"x", "back\\slash": b"x", "nested/.git/config": b"x", "CON": b"x"})
    write(root, {"u\u0308ber.md": b"NFD", "\x1b[2Jbad": b"x", "ends.": b"x", ".GIT/config": b"x"})
    (root / "link").symlink_to("/etc/passwd")
    (root / "folder").symlink_to(root / "also")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(root / "socket"))
    with (root / "huge").open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    (root / os.fsdecode(b"latin-\xff")).write_bytes(b"x")
    return {
        "good.md": "name of another",
        "back\\slash": "",
        "nested/.git": "",
        "CON": "",
        "u\u0308ber.md": "",
        "ends.": "",
        ".GIT/config": "",
        "link": "symbolic link",
        "folder": "symbolic link",
        "pipe": "pipe",
        "socket": "socket",
        "huge": "larger",
    }


def test_everything_that_cannot_come_is_listed_at_once_and_nothing_is_sent(shell: Shell) -> None:
    root = shell.folder / "root"
    expected = _refused_root(root)
    said = shell.memory("import", str(root), code=2)
    lines = said.err.splitlines()
    for path, why in expected.items():
        assert any(line.startswith(f"  {path}:") and why in line for line in lines), path
    assert sum(line.startswith("  ") for line in lines) == len(expected) + 2
    assert "\x1b" not in said.err
    assert said.out == ""
    assert shell.server.asked == []


def test_what_cannot_come_is_left_out_on_request_and_named(shell: Shell) -> None:
    root = shell.folder / "root"
    expected = _refused_root(root)
    said = shell.memory("import", str(root), "--skip-refused").json
    assert {one["path"] for one in said["left_out"]} >= set(expected)
    assert len(said["left_out"]) == len(expected) + 2
    assert set(shell.kept.files) == {"Good.md", "also/good.md"}


@pytest.mark.parametrize("what", ["missing", "a file", "empty", "nothing but folders"])
def test_a_folder_that_is_none_or_holds_nothing_is_a_mistake(shell: Shell, what: str) -> None:
    root = shell.folder / "root"
    if what == "a file":
        root.write_bytes(b"x")
    elif what != "missing":
        (root / ("a/b" if what == "nothing but folders" else "")).mkdir(parents=True)
    shell.memory("import", str(root), code=2)
    assert shell.server.asked == []


def test_a_conflict_is_said_and_replace_takes_the_roots(shell: Shell) -> None:
    root = shell.folder / "root"
    write(root, {"a.md": b"mine"})
    shell.memory("import", str(root))
    write(root, {"a.md": b"theirs"})
    refused = shell.memory("import", str(root), code=1)
    assert "differ from yours: a.md" in refused.err
    shell.memory("import", str(root), "--on-conflict", "replace")
    assert [order.conflicts for order in shell.kept.orders] == ["refuse", "refuse", "replace"]


def test_an_api_that_is_down_or_a_token_that_is_missing_is_said(shell: Shell) -> None:
    root = shell.folder / "root"
    write(root, {"a.md": b"mine"})
    shell.server.trouble = Unavailable("Later.")
    assert "Later." in shell.memory("import", str(root), code=1).err
    assert "Later." in shell.memory("export", str(shell.folder / "back"), code=1).err
    shell.token = None
    said = shell.memory("import", str(root), code=2)
    assert "SYNC_OWNER_TOKEN" in said.err


def _marked(root: Path, mark: Path) -> str:
    """A program that leaves a mark when it is run."""
    program = root.parent / "evil"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 0\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.promise("P4-refuse")
def test_nothing_that_a_repository_says_is_run(shell: Shell) -> None:
    root, mark = shell.folder / "root", shell.folder / "mark"
    root.mkdir()
    git(root, "init", "-q")
    write(root, {"a.md": b"x", ".gitattributes": b"* diff=evil filter=evil\n"})
    evil = _marked(root, mark)
    commit(root, "Write a.md")
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout"):
        (root / ".git/hooks").mkdir(exist_ok=True)
        (root / ".git/hooks" / hook).symlink_to(evil)
    settings = {
        "core.fsmonitor": evil,
        "core.sshCommand": evil,
        "core.pager": evil,
        "diff.external": evil,
        "diff.evil.textconv": evil,
        "diff.evil.command": evil,
        "filter.evil.clean": evil,
        "filter.evil.smudge": evil,
        "log.showSignature": "true",
        "gpg.program": evil,
        "alias.rev-list": f"!{evil}",
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{evil}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }
    for name, value in settings.items():
        git(root, "config", name, value)
    shell.memory("import", str(root))
    assert len(shell.kept.commits) == 1
    assert not mark.exists()
    # A content that is missing is asked of no remote.
    blob = git(root, "rev-parse", "HEAD:a.md").decode().strip()
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    said = shell.memory("import", str(root), code=1)
    assert blob in said.err
    assert not mark.exists()
    assert len(shell.kept.orders) == 1


def test_a_repository_that_git_cannot_read_is_said_and_can_be_passed_over(shell: Shell) -> None:
    root = shell.folder / "root"
    write(root, {"a.md": b"x", ".git/HEAD": b"what?"})
    assert "git rev-parse failed" in shell.memory("import", str(root), code=1).err
    assert shell.server.asked == []
    assert shell.memory("import", str(root), "--without-history").json["files"] == 1


def test_a_repository_elsewhere_is_not_followed(shell: Shell) -> None:
    other, root = shell.folder / "other", shell.folder / "root"
    other.mkdir()
    git(other, "init", "-q")
    write(other, {"secret.md": b"secret"})
    commit(other, "Secret")
    write(root, {"a.md": b"x", ".git": f"gitdir: {other}/.git\n".encode()})
    said = shell.memory("import", str(root))
    assert "no git repository of its own" in said.err
    assert set(shell.kept.files) == {"a.md"}
    (root / ".git").unlink()
    (root / ".git").symlink_to(other / ".git")
    shell.memory("import", str(root))
    assert "Secret" not in [one.message for one in shell.kept.commits.values()]


def test_steering_git_by_the_environment_leads_nowhere(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shell.folder / "root"
    root.mkdir()
    git(root, "init", "-q")
    write(root, {"a.md": b"x"})
    commit(root, "Write a.md")
    monkeypatch.setenv("GIT_DIR", str(shell.folder / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(shell.folder / "index"))
    shell.memory("import", str(root))
    shell.memory("export", str(shell.folder / "back"))
    assert tree(shell.folder / "back") == {"a.md": b"x"}
    assert not (shell.folder / "index").exists()
    assert commit_id("x") not in shell.kept.commits
