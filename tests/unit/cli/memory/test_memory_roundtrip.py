"""A memory root goes in and comes out byte for byte, its history readable by git."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes.memory_roots import FILES, braindrive_root, commit, git, log, tree, write

if TYPE_CHECKING:
    from tests.unit.cli.memory.conftest import Shell

pytestmark = pytest.mark.promise("P4-memory-import", "002-29")


def test_a_braindrive_root_comes_back_byte_for_byte_with_its_history(shell: Shell) -> None:
    root, back = shell.folder / "root", shell.folder / "back"
    braindrive_root(root)
    said = shell.memory("import", str(root)).json
    assert said["files"] == len(tree(root))
    assert said["history"] == {"commits": 8, "omitted": {"links and submodules": 1}}
    assert said["left_out"] == []
    told = shell.memory("export", str(back)).json
    assert told["files"] == said["files"]
    assert tree(back) == tree(root)
    assert git(back, "status", "--porcelain") == b""
    before, after = log(root), log(back)
    assert after[: len(before)] == before
    assert after[-1][2] == "Import of memory root"
    assert len(after) == len(before) + 1
    assert git(back, "fsck", "--strict") == b""


def test_each_version_of_a_file_can_be_shown(shell: Shell) -> None:
    root, back = shell.folder / "root", shell.folder / "back"
    braindrive_root(root)
    shell.memory("import", str(root))
    shell.memory("export", str(back))
    for place in range(8):
        mine = git(root, "rev-list", "--first-parent", "--reverse", "HEAD").split()[place]
        theirs = git(back, "rev-list", "--reverse", "HEAD").split()[place]
        listed = git(root, "ls-tree", "-r", mine.decode())
        plain = [line for line in listed.splitlines() if not line.startswith(b"120000")]
        assert git(back, "ls-tree", "-r", theirs.decode()).splitlines() == plain


def test_the_same_root_again_brings_nothing(shell: Shell) -> None:
    root = shell.folder / "root"
    braindrive_root(root)
    shell.memory("import", str(root))
    commits, files = dict(shell.kept.commits), dict(shell.kept.files)
    said = shell.memory("import", str(root)).json
    assert (said["files"], said["commits"]) == (0, 0)
    assert (shell.kept.commits, shell.kept.files) == (commits, files)


def test_a_clean_root_brings_no_commit_of_ours(shell: Shell) -> None:
    root = shell.folder / "root"
    root.mkdir()
    git(root, "init", "-q")
    write(root, {"a.md": b"x"})
    commit(root, "Write a.md")
    said = shell.memory("import", str(root)).json
    assert said["commits"] == 1
    assert [one.message for one in shell.kept.commits.values()] == ["Write a.md"]


@pytest.mark.parametrize("how", ["no repository", "no commit yet", "--without-history", "no git"])
def test_without_a_history_the_files_come_in_one_commit(shell: Shell, how: str) -> None:
    root = shell.folder / "root"
    root.mkdir()
    if how != "no repository":
        git(root, "init", "-q")
    write(root, FILES)
    if how in ("--without-history", "no git"):
        commit(root, "not wanted")
    more = [how] if how.startswith("--") else []
    said = shell.memory("import", str(root), *more, path="" if how == "no git" else None)
    assert said.json["history"] is None
    (only,) = shell.kept.commits.values()
    assert (only.message, set(only.changes)) == ("Import of memory root", set(FILES))
    assert ("no git on this machine" in said.err) == (how == "no git")


@pytest.mark.parametrize("how", ["--without-history", "no git"])
def test_an_export_without_history_is_the_files_alone(shell: Shell, how: str) -> None:
    root, back = shell.folder / "root", shell.folder / "back"
    write(root, FILES)
    shell.memory("import", str(root))
    more = [how] if how.startswith("--") else []
    said = shell.memory("export", str(back), *more, path="" if how == "no git" else None)
    assert said.json["history"] is None
    assert tree(back) == dict(FILES)
    assert not (back / ".git").exists()
    assert ("no git on this machine" in said.err) == (how == "no git")


def test_a_large_file_travels_in_pieces(shell: Shell) -> None:
    root, back = shell.folder / "root", shell.folder / "back"
    large = {"large.bin": bytes(range(251)) * 20_000, "b": b"b"}
    write(root, large)
    shell.kept.lines_a_page = 1
    shell.memory("import", str(root))
    assert sum(method == "PUT" for method, _ in shell.server.asked) == 4
    shell.memory("export", str(back))
    assert tree(back) == large
