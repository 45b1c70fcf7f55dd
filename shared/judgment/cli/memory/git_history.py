"""The history of a memory root, as its git repository tells it: first parents, oldest first.

A merge is what it changed against its first parent. What is no plain file (links, submodules), has
a path that a memory does not take, or is too large, is left out and counted.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from judgment.cli.memory.git import Git, failed
from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.memory.transfer.lines import AUTHOR_LIMIT, FILE_BYTES, MESSAGE_LIMIT
from judgment.memory.transfer.names import arriving

_PLAIN = {b"100644", b"100755", b"100664"}
_NOTHING = b"000000"
_SIGNED = re.compile(rb"^(?P<author>.*>) (?P<seconds>-?[0-9]+) [+-][0-9]+$", re.DOTALL)
_LINK, _PATH, _SIZE = "links and submodules", "paths that no memory takes", "files too large"


@dataclass(frozen=True, slots=True)
class GitCommit:
    """A commit. `changes`: path to git's name of the content, None where the file was deleted."""

    id: str
    author: str
    message: str
    at: datetime
    changes: dict[str, bytes | None] = field(repr=False)


class History:
    """The history of one repository while it is open. `omitted` counts what was left out."""

    def __init__(self, git: Git, objects: _Objects):
        self._git = git
        self._objects = objects
        self.omitted: Counter[str] = Counter()
        self.ids = self._listed()

    def commits(self) -> Iterator[GitCommit]:
        """Each commit in turn. Raises Unavailable when git fails, InvalidRequest."""
        for name, changes in self._changes():
            author, at, message = _read_commit(self._objects.read(name))
            if len(message) > MESSAGE_LIMIT or len(author) > AUTHOR_LIMIT:
                raise InvalidRequest(f"The message of commit {name.decode()} is too long.")
            yield GitCommit(name.decode()[:40], author, message, at, changes)

    def content(self, name: bytes) -> bytes:
        """A content by git's name of it."""
        return self._objects.read(name)

    def _listed(self) -> list[bytes]:
        """Each commit and its first parent, as lines for diff-tree."""
        words = ("rev-list", "--first-parent", "--reverse", "--parents", "HEAD")
        listed = self._git.output(*words).splitlines()
        return [b" ".join(line.split()[:2]) for line in listed]

    def _changes(self) -> Iterator[tuple[bytes, dict[str, bytes | None]]]:
        words = ("diff-tree", "--stdin", "--root", "--always", "-r", "-m", "--raw", "-z")
        plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev")
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
            asked.write(b"".join(name + b"\n" for name in self.ids))
            asked.seek(0)
            process = self._git.started(*words, *plain, stdin=asked, stderr=said)
            with process:
                assert process.stdout is not None
                yield from self._grouped(_fields(process.stdout))
            if process.returncode:
                said.seek(0)
                raise failed("diff-tree", said.read())

    def _grouped(self, fields: Iterator[bytes]) -> Iterator[tuple[bytes, dict[str, bytes | None]]]:
        name: bytes | None = None
        changes: dict[str, bytes | None] = {}
        for one in fields:
            if not one.startswith(b":"):
                if name is not None:
                    yield name, changes
                name, changes = one.split()[0], {}
                continue
            self._note(changes, one, next(fields))
        if name is not None:
            yield name, changes

    def _note(self, changes: dict[str, bytes | None], about: bytes, raw_path: bytes) -> None:
        old_mode, new_mode, _, name, _ = about[1:].split(b" ")
        path = _path(raw_path)
        if path is None:
            self.omitted[_PATH] += 1
        elif new_mode in _PLAIN:
            if self._objects.size(name) > FILE_BYTES:
                self.omitted[_SIZE] += 1
            else:
                changes[path] = name
        else:
            if new_mode != _NOTHING:
                self.omitted[_LINK] += 1
            if old_mode in _PLAIN:
                changes[path] = None


class _Objects:
    """Two `git cat-file`, one for sizes and one for contents, for as long as they are needed."""

    def __init__(self, sizes: subprocess.Popen[bytes], contents: subprocess.Popen[bytes]):
        self._sizes = sizes
        self._contents = contents

    def size(self, name: bytes) -> int:
        """Bytes of an object."""
        return _asked(self._sizes, name)

    def read(self, name: bytes) -> bytes:
        """An object's bytes, no filter applied. Raises Unavailable for one that is missing."""
        size = _asked(self._contents, name)
        assert self._contents.stdout is not None
        data = self._contents.stdout.read(size + 1)
        if len(data) != size + 1:
            raise Unavailable("git cat-file ended early.")
        return data[:-1]


@contextmanager
def opened(program: str, root: Path) -> Generator[History | None]:
    """The history of a root that has one; None for a repository without a commit."""
    git = Git(program, root / ".git")
    if not git.output("rev-parse", "--verify", "--quiet", "HEAD^{commit}", missing=b""):
        yield None
        return
    with _running(git, "--batch-check") as sizes, _running(git, "--batch") as contents:
        yield History(git, _Objects(sizes, contents))


@contextmanager
def _running(git: Git, how: str) -> Generator[subprocess.Popen[bytes]]:
    process = git.started("cat-file", how, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _asked(process: subprocess.Popen[bytes], name: bytes) -> int:
    """Ask for an object; its size. Raises Unavailable for one that is missing."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(name + b"\n")
        process.stdin.flush()
    except BrokenPipeError as error:
        raise Unavailable("git cat-file ended early.") from error
    found = process.stdout.readline().split()
    if len(found) != 3:
        raise Unavailable(f"The repository lacks the object {name.decode(errors='replace')}.")
    return int(found[2])


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    """What stands between NULs."""
    rest = b""
    while part := os.read(stream.fileno(), 1 << 20):
        *whole, rest = (rest + part).split(b"\0")
        yield from whole
    if rest:
        raise Unavailable("git diff-tree ended early.")


def _path(raw: bytes) -> str | None:
    """The path as a memory takes it, None for one that it does not take."""
    try:
        return arriving(raw.decode())
    except (UnicodeDecodeError, InvalidRequest):
        return None


def _read_commit(raw: bytes) -> tuple[str, datetime, str]:
    """Author, time and message of a commit object, the message as it is to its last byte."""
    head, _, message = raw.partition(b"\n\n")
    author, at, encoding = "", datetime.fromtimestamp(0, UTC), "utf-8"
    for line in head.split(b"\n"):
        word, _, value = line.partition(b" ")
        if word == b"author" and (signed := _SIGNED.match(value)):
            author, at = signed["author"].decode(errors="replace"), _moment(int(signed["seconds"]))
        elif word == b"encoding":
            encoding = value.decode(errors="replace")
    return author.replace("\0", ""), at, _decoded(message, encoding).replace("\0", "")


def _decoded(message: bytes, encoding: str) -> str:
    try:
        return message.decode(encoding)
    except (LookupError, UnicodeError):
        return message.decode(errors="replace")


def _moment(seconds: int) -> datetime:
    """The moment; one that no calendar holds becomes the nearest of its kind, 1970."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)
