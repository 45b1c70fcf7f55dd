"""Where a path may lead: below the memory's root, to one place on every file system, and nowhere
that is reserved.

A memory is exported to file systems that know no case, one form of each letter, and names of their
own; so a name that could mean another there is no name here. Paths are written with `/`, relative
to the root, in NFC (reference §2; the checks beyond it are ours).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from judgment.memory.model import MemoryFailure

OWNER_PROFILE_FILE = "me/profile.md"
"""The owner's own page about themselves; nothing of the judgment profile is in it (ruling 35)."""
PATH_BYTES = 1024
NAME_BYTES = 255
DEPTH = 32

REPOSITORY = frozenset({".git", "git~1"})
"""Reserved wherever it is: of a repository within, git runs what its files say. `git~1` is `.git`
to some systems."""
RESERVED = REPOSITORY | {"diagnostics"}
"""First folders that no tool and no owner's edit reaches."""
READ_ONLY = ("preferences", "conversations", "documents/projects.json")
"""What tools may read and not write: settings, and what is rendered from rows."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:|\\\\")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9]) *(\..*)?")
_SHORT = re.compile(r"(git|diagno|prefer|conver|docume|projec)~[0-9]+(\..*)?")
"""What some systems also call a folder that is reserved or kept by the system."""
_FORBIDDEN = re.compile(r"[\\:]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not seen and that some file systems ignore (Default_Ignorable)."""
_SCRIPT = str.maketrans("", "", "\u200c\u200d\ufe0e\ufe0f")
"""Those of them that scripts and emoji need: allowed in a name, without making it another."""


def contained(text: str) -> str:
    """The path that `text` means, relative to the root, normalised.

    Raises MemoryFailure: `path_invalid` where it leads out or could mean another file elsewhere,
    `reserved_path` where it leads to what is reserved.
    """
    path = _resolved(text)
    if not path:
        raise _invalid(f"A file is named below the root, such as {OWNER_PROFILE_FILE}.")
    return path


def folder(text: str) -> str:
    """The same for a folder; the root is the empty text."""
    return _resolved(text)


def writable(path: str) -> None:
    """Raises MemoryFailure `reserved_path` where tools may read `path` but not write it."""
    name = folded(path)
    for one in READ_ONLY:
        if name == one or name.startswith(one + "/"):
            raise MemoryFailure("reserved_path", f"{one} is kept by the system; it can be read.")


@lru_cache(4096)
def folded(path: str) -> str:
    """The path as a file system reads it that knows no case, no forms and no unseen letters.

    Of what is folded the fold is the same text.
    """
    before, name = "", path
    while name != before:
        plain = unicodedata.normalize("NFKD", _UNSEEN.sub("", name)).casefold()
        before, name = name, unicodedata.normalize("NFKC", plain)
    return name


def parents(path: str) -> list[str]:
    """The folders above a path, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


class Neighbours:
    """Files that are there, to be asked what stands in a new one's way on some file system."""

    def __init__(self, paths: Iterable[str] = ()):
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._below: dict[str, int] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Take a file in."""
        self._files[folded(path)] = path
        for above in parents(path):
            name = folded(above)
            self._folders.setdefault(name, above)
            self._below[name] = self._below.get(name, 0) + 1

    def drop(self, path: str) -> None:
        """A file that was there leaves, and with the last one its folder."""
        if self._files.pop(folded(path), None) is None:
            return
        for above in parents(path):
            name = folded(above)
            self._below[name] -= 1
            if not self._below[name]:
                del self._folders[name]

    def clash(self, path: str) -> str | None:
        """The file or folder (with `/`) beside which `path` cannot be: the same name in another
        spelling, a file where it wants a folder, or a folder where it wants a file."""
        name = folded(path)
        if self._files.get(name, path) != path:
            return self._files[name]
        if name in self._folders:
            return f"{self._folders[name]}/"
        for above in parents(path):
            name = folded(above)
            if name in self._files:
                return self._files[name]
            if self._folders.get(name, above) != above:
                return f"{self._folders[name]}/"
        return None


def clash(path: str, there: Iterable[str]) -> str | None:
    """`Neighbours.clash` for one path; whoever asks for many keeps the neighbours."""
    return Neighbours(there).clash(path)


def _resolved(text: str) -> str:
    given = text.strip()
    if len(given) > PATH_BYTES:  # before anything is made of it or kept
        raise _invalid(_TOO_LONG)
    if _CONTROL.search(given):
        raise _invalid("A path holds no control characters.")
    if _ABSOLUTE.match(given):
        raise _invalid("A path is relative to the memory's root.")
    parts: list[str] = []
    for name in unicodedata.normalize("NFC", given).split("/"):
        if name == "..":
            if not parts:
                raise _invalid("Path escapes memory root")
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    names = [folded(name).rstrip(". ") for name in parts]
    if not REPOSITORY.isdisjoint(names) or not RESERVED.isdisjoint(names[:1]):
        raise MemoryFailure("reserved_path", "Path targets what is reserved.")
    if len(parts) > DEPTH or len("/".join(parts).encode()) > PATH_BYTES:
        raise _invalid(_TOO_LONG)
    for name in parts:
        _check_name(name)
    return "/".join(parts)


def _check_name(name: str) -> None:
    shown = folded(name)
    if len(name.encode()) > NAME_BYTES:
        raise _invalid(f"A name has at most {NAME_BYTES} bytes.")
    if _UNSEEN.search(name.translate(_SCRIPT)) or not shown:
        raise _invalid("A name holds no characters that are not seen.")
    if shown[-1] in ". " or shown[0] == " ":
        raise _invalid("A name neither begins with a space nor ends with a space or a dot.")
    if _FORBIDDEN.search(name) or _FORBIDDEN.search(shown) or "/" in shown:
        raise _invalid("A name holds neither a slash, nor a backslash, nor a colon.")
    if _DEVICE.fullmatch(shown) or _SHORT.fullmatch(shown):
        raise _invalid("That name means something else on other systems.")


def _invalid(message: str) -> MemoryFailure:
    return MemoryFailure("path_invalid", message)


_TOO_LONG = f"A path has at most {DEPTH} names and {PATH_BYTES} bytes."
