"""A memory's history written as a git repository, whose last commit is the files as they are."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from judgment.cli.memory.git import Git, failed
from judgment.cli.preferences.progress import watched

if TYPE_CHECKING:
    from judgment.memory.transfer.lines import Committed

_SIGNED = re.compile(r"^(?P<name>.*?) ?<(?P<mail>[^<>]*)>$", re.DOTALL)
_BREAKING = re.compile(r"[<>\n\0]")
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol\n"
"""A `.gitattributes` among the files must not make git see other bytes than are there."""


def write_repository(
    program: str, root: Path, commits: Sequence[Committed], content: Callable[[str], bytes]
) -> None:
    """Make `.git` in `root`, with these commits in their order on `main`; nothing else is touched.

    `content` gives a content by its digest. Raises Unavailable when git fails.
    """
    repository = root / ".git"
    git = Git(program, repository)
    git.output("init", "--quiet", "--template=")
    git.output("symbolic-ref", "HEAD", "refs/heads/main")
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text(_ATTRIBUTES)
    with tempfile.TemporaryFile() as said:
        process = git.started(
            *("fast-import", "--quiet", "--done", "--date-format=raw"),
            stdin=subprocess.PIPE,
            stderr=said,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(BrokenPipeError):  # git has stopped, and says why
                _feed(process.stdin, commits, content)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            process.wait()
        if process.returncode:
            said.seek(0)
            raise failed("fast-import", said.read())
    git.output("read-tree", "HEAD")


def _feed(stdin: IO[bytes], commits: Sequence[Committed], content: Callable[[str], bytes]) -> None:
    marks: dict[str, int] = {}
    for commit in watched(commits, "Writing the history"):
        for sha256 in commit.changes.values():
            if sha256 is not None and sha256 not in marks:
                marks[sha256] = len(marks) + 1
                stdin.write(b"blob\nmark :%d\n" % marks[sha256] + _data(content(sha256)))
        stdin.write(_commit(commit, marks))
    stdin.write(b"done\n")
    stdin.flush()


def _commit(commit: Committed, marks: Mapping[str, int]) -> bytes:
    signed = _signature(commit)
    lines = [b"commit refs/heads/main", b"author " + signed, b"committer " + signed, b""]
    # What is deleted first: a file may make room for a folder of its name.
    deleted = [path for path, sha256 in commit.changes.items() if sha256 is None]
    changes = [b"D " + _quoted(path) for path in deleted]
    changes += [
        b"M 100644 :%d " % marks[sha256] + _quoted(path)
        for path, sha256 in commit.changes.items()
        if sha256 is not None
    ]
    return b"\n".join(lines) + _data(commit.message.encode()) + b"\n".join([*changes, b"", b""])


def _signature(commit: Committed) -> bytes:
    """`Name <mail> seconds +0000`, of whatever the author was called."""
    found = _SIGNED.match(commit.author)
    name, mail = (found["name"], found["mail"]) if found else (commit.author, "")
    name, mail = (_BREAKING.sub("", one).strip() for one in (name, mail))
    seconds = max(0, int(commit.at.timestamp()))
    return f"{name} <{mail}> {seconds} +0000".encode()


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode() + b'"'


class Tree:
    """What files a history leads to, as git sees it: a file and a folder of one name are not
    side by side."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self._folders: Counter[str] = Counter()

    def follow(self, changes: Mapping[str, str | None]) -> None:
        """Take a commit's changes in, deletions first."""
        for path in [path for path, sha256 in changes.items() if sha256 is None]:
            self._drop(path)
        for path, sha256 in changes.items():
            if sha256 is not None:
                self._put(path, sha256)

    def _put(self, path: str, sha256: str) -> None:
        for above in _above(path):
            self._drop(above)
        if self._folders[path]:
            for beneath in [one for one in self.files if one.startswith(f"{path}/")]:
                self._drop(beneath)
        if path not in self.files:
            self._folders.update(_above(path))
        self.files[path] = sha256

    def _drop(self, path: str) -> None:
        if self.files.pop(path, None) is not None:
            self._folders.subtract(_above(path))


def _above(path: str) -> Iterator[str]:
    segments = path.split("/")
    for count in range(1, len(segments)):
        yield "/".join(segments[:count])
