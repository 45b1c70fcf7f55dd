"""A memory root on this machine: which files it has, and which of them cannot come along.

Nothing is followed: a link is refused where it stands, and a file is read only while it is one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from judgment.kit.errors import InvalidRequest, Refusal, Unavailable
from judgment.kit.files import read_private, refusal, shown
from judgment.memory.transfer.lines import FILE_BYTES
from judgment.memory.transfer.names import Names, arriving

GIT = ".git"
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be imported, and why."""

    path: str
    why: str


@dataclass(slots=True)
class Root:
    """A folder's files, by path relative to it and sorted."""

    place: Path
    files: list[str] = field(default_factory=list[str])
    refused: list[Refused] = field(default_factory=list[Refused])
    empty_folders: int = 0

    @property
    def has_history(self) -> bool:
        """Whether it holds a git repository of its own."""
        path = self.place / GIT
        return path.is_dir() and not path.is_symlink()

    def read(self, path: str) -> bytes:
        """A file's bytes as they are now. Raises Unavailable when it has changed its kind."""
        content = read_private(self.place / path)
        if content is None:
            raise Unavailable(f"{shown(self.place / path)} has gone.")
        if len(content) > FILE_BYTES:
            raise Unavailable(f"{shown(self.place / path)} has grown beyond {FILE_BYTES} bytes.")
        return content


def scan(place: Path) -> Root:
    """What the folder holds. Raises InvalidRequest when it is none, or holds nothing."""
    if not place.is_dir():
        raise InvalidRequest(f"{shown(place)} is not a folder.")
    root = Root(place)
    found: list[tuple[str, os.DirEntry[str]]] = []
    _walk(root, place, "", found)
    names = Names()
    for path, entry in sorted(found, key=lambda one: one[0]):
        why = _why_not(path, entry, names)
        if why is not None:
            root.refused.append(Refused(path, why))
            continue
        names.add(path)
        root.files.append(path)
    root.refused.sort(key=lambda one: one.path)
    if not root.files and not root.refused:
        raise InvalidRequest(f"{shown(place)} holds no file.")
    return root


def _walk(root: Root, folder: Path, prefix: str, found: list[tuple[str, os.DirEntry[str]]]) -> None:
    try:
        with os.scandir(folder) as listing:
            entries = list(listing)
    except OSError as error:
        if not prefix:
            raise refusal(error, folder, "read") from error
        root.refused.append(Refused(prefix, str(refusal(error, folder, "read"))))
        return
    if prefix and not entries:
        root.empty_folders += 1
    for entry in entries:
        path = f"{prefix}/{entry.name}" if prefix else entry.name
        if not prefix and entry.name == GIT:
            continue
        if entry.is_dir(follow_symlinks=False) and entry.name != GIT:
            _walk(root, Path(entry.path), path, found)
        else:
            found.append((path, entry))


def _why_not(path: str, entry: os.DirEntry[str], names: Names) -> str | None:
    """Why something of the folder cannot be imported, None when it can."""
    try:
        about = entry.stat(follow_symlinks=False)
        for is_one, kind in _KINDS:
            if is_one(about.st_mode):
                return kind
        path.encode()
        arriving(path)
        if names.clash(path):
            return "the name of another file, but for case or form of its letters"
        if about.st_size > FILE_BYTES:
            return f"larger than {FILE_BYTES} bytes"
        if not os.access(entry.path, os.R_OK):
            return "you may not read it"
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    except OSError as error:
        return str(refusal(error, Path(entry.path), "read"))
    except Refusal as refused:
        return refused.message
    return None


def left_out(refused: list[Refused]) -> Iterator[str]:
    """A line for each."""
    for one in refused:
        yield f"  {one.path}: {one.why}"
