"""An export is written into a folder of its own, and nowhere else, whatever a server sends."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgment.cli.memory.folder import opened
from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.kit.hashing import sha256_hex
from judgment.memory.transfer.lines import Committed, blob_lines, commit_lines
from tests.fakes.memory_roots import git, log, tree
from tests.fakes.transfers import AT, commit_id, memory, raw

if TYPE_CHECKING:
    from tests.unit.cli.memory.conftest import Shell

pytestmark = pytest.mark.promise("P4-memory-import", "P4-refuse", "002-29")

SHA = sha256_hex(b"x")
SMALL = memory({"a": b"x"}, ("one", {"a": b"x"}))


def _and(*lines: str) -> list[str]:
    return [*SMALL[:-1], *lines, SMALL[-1]]


def _file(path: str) -> list[str]:
    return _and(raw(type="file", path=path, sha256=SHA))


def _change(path: str) -> list[str]:
    given = Committed(commit_id("evil"), "", "", AT, {path: SHA})
    return [*SMALL[:-2], *commit_lines(given), *SMALL[-2:]]


HOSTILE = {
    "a way out": _file("../evil"),
    "a way out below": _file("b/../../evil"),
    "an absolute path": _file("/tmp/evil"),
    "a hook": _file(".git/hooks/post-checkout"),
    "a hook but for case": _file(".Git/hooks/post-checkout"),
    "a repository below": _file("b/.git/config"),
    "a file twice but for case": _file("A"),
    "a file below a file": _file("a/b"),
    "a way out in the history": _change("../evil"),
    "a hook in the history": _change(".git/hooks/x"),
    "a file that did not come": _and(raw(type="file", path="b", sha256="0" * 64)),
    "no end": SMALL[:-1],
    "nothing": [],
    "a line after the end": [*SMALL, SMALL[1]],
    "an unknown line": _and(raw(type="run", path="x")),
    "no JSON": _and("<html>"),
    "the same page for ever": [*SMALL[:-1], raw(type="next", cursor="1")],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_server_that_lies_writes_nothing(shell: Shell, what: str) -> None:
    back = shell.folder / "inner" / "back"
    shell.server.instead = "".join(f"{line}\n" for line in HOSTILE[what]) or "\n"
    said = shell.memory("export", str(back), code=1)
    assert said.out == ""
    assert tree(shell.folder) == {}
    assert not Path("/tmp/evil").exists()


@pytest.mark.parametrize("what", ["a file", "a folder with something", "a link"])
def test_only_a_new_or_an_empty_folder_is_written_into(shell: Shell, what: str) -> None:
    back = shell.folder / "back"
    if what == "a file":
        back.write_bytes(b"x")
    elif what == "a link":
        (shell.folder / "empty").mkdir()
        back.symlink_to(shell.folder / "empty")
    else:
        back.mkdir()
        (back / "mine").write_bytes(b"mine")
    shell.memory("export", str(back), code=2)
    assert shell.server.asked == []


def test_a_link_that_appears_meanwhile_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with opened(tmp_path / "new") as folder:
        (tmp_path / "new/b").symlink_to(outside)
        (tmp_path / "new/c").symlink_to(outside / "c")
        with pytest.raises(Unavailable):
            folder.write("b/evil", b"x")
        folder.write("c", b"mine")
        with pytest.raises(InvalidRequest):
            folder.write("../c", b"x")
    assert list(outside.iterdir()) == []
    assert (tmp_path / "new/c").read_bytes() == b"mine"


ODD_AUTHORS = {
    "Plain <a@b.c>": "Plain <a@b.c>",
    "no mail at all": "no mail at all <>",
    "<only@mail>": "<only@mail>",
    "A <b> C <d@e>": "A b C <d@e>",
    "two\nlines <x@y>": "twolines <x@y>",
    "": "<>",
    "\N{SNOWMAN} 'q' \"d\" <\u00fc@x>": "\N{SNOWMAN} 'q' \"d\" <\u00fc@x>",
}


def test_whoever_made_a_commit_git_reads_it(shell: Shell) -> None:
    content = b"x"
    shell.kept.blobs = {SHA: content}
    for author in ODD_AUTHORS:
        given = Committed(commit_id(author), author, f"By {author}", AT, {"a": SHA})
        shell.kept.commits[given.id] = given
    shell.kept.files = {"a": SHA}
    shell.memory("export", str(shell.folder / "back"))
    told = log(shell.folder / "back")
    assert [author.strip() for author, _, _ in told] == list(ODD_AUTHORS.values())
    assert git(shell.folder / "back", "status", "--porcelain") == b""


def test_where_the_history_does_not_lead_to_the_files_a_last_commit_does(shell: Shell) -> None:
    """A file that makes room for a folder of its name, and comes back, is no riddle."""
    sha = {name: sha256_hex(name.encode()) for name in "ab"}
    shell.kept.blobs = {sha[name]: name.encode() for name in "ab"}
    steps: list[dict[str, str | None]] = [
        {"notes/a": sha["a"], "keep": sha["a"]},
        {"notes": sha["b"]},
        {"notes/b/c": sha["b"]},
    ]
    for number, changes in enumerate(steps):
        given = Committed(commit_id(number), "A <a@b>", f"{number}", AT, changes)
        shell.kept.commits[given.id] = given
    shell.kept.files = {"notes/a": sha["a"], "notes/b/c": sha["b"]}
    back = shell.folder / "back"
    shell.memory("export", str(back))
    assert tree(back) == {"notes/a": b"a", "notes/b/c": b"b"}
    assert git(back, "status", "--porcelain") == b""
    assert [message for _, _, message in log(back)] == ["0", "1", "2", "Export of memory root"]


def test_a_git_that_fails_is_said_and_the_files_are_there(shell: Shell) -> None:
    shell.kept.blobs, shell.kept.files = {SHA: b"x"}, {"a": SHA}
    programs = shell.folder / "programs"
    programs.mkdir()
    real = shutil.which("git")
    (programs / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *fast-import*) echo "fatal: disk full" >&2; exit 1;; esac\n'
        f'exec {real} "$@"\n'
    )
    (programs / "git").chmod(0o755)
    back = shell.folder / "back"
    said = shell.memory("export", str(back), code=1, path=str(programs))
    assert "disk full" in said.err
    assert tree(back) == {"a": b"x"}


def test_pieces_of_a_view_that_changed_between_two_pages_are_passed_over(shell: Shell) -> None:
    large = bytes(range(256)) * 8_000
    torn = [*SMALL[:-1], next(blob_lines(sha256_hex(large), large)), *blob_lines(SHA, b"x")]
    shell.server.instead = "".join(f"{line}\n" for line in [*torn, *_file("b")[-2:]])
    shell.memory("export", str(shell.folder / "back"))
    assert tree(shell.folder / "back") == {"a": b"x", "b": b"x"}
