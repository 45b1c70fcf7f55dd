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

PATH_BYTES = 1024
NAME_BYTES = 255
DEPTH = 32

RESERVED = frozenset({".git", "git~1", "diagnostics"})
"""First folders that no tool and no owner's edit reaches. `git~1` is `.git` to some systems."""
READ_ONLY = ("preferences", "conversations", "documents/projects.json")
"""What tools may read and not write: settings, and what is rendered from rows."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:|\\\\")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\\:]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not seen and that some file systems ignore."""


def contained(text: str) -> str:
    """The path that `text` means, relative to the root, normalised.

    Raises MemoryFailure: `path_invalid` where it leads out or could mean another file elsewhere,
    `reserved_path` where it leads to what is reserved.
    """
    path = _resolved(text)
    if not path:
        raise _invalid("A file is named below the memory's root, such as me/profile.md.")
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
    """The path as a file system reads it that knows no case, no forms and no unseen letters."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", path))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())


def parents(path: str) -> list[str]:
    """The folders above a path, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def clash(path: str, there: Iterable[str]) -> str | None:
    """One of the paths that are there with which a file at `path` could not stand on every file
    system: the same name in another spelling, a file where it wants a folder, or a folder."""
    own = folded(path)
    above = {folded(one): one for one in parents(path)}
    for other in there:
        name = folded(other)
        if name == own:
            if other != path:
                return other
        elif name in above or name.startswith(own + "/"):
            return other
        else:
            for one in parents(other):
                if above.get(folded(one), one) != one:
                    return other
    return None


def _resolved(text: str) -> str:
    given = unicodedata.normalize("NFC", text.strip())
    if _CONTROL.search(text):
        raise _invalid("A path holds no control characters.")
    if _ABSOLUTE.match(given):
        raise _invalid("A path is relative to the memory's root.")
    parts: list[str] = []
    for name in given.split("/"):
        if name == "..":
            if not parts:
                raise _invalid("Path escapes memory root")
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    _check_names(parts)
    return "/".join(parts)


def _check_names(parts: list[str]) -> None:
    if not parts:
        return
    first = folded(parts[0]).rstrip(". ")
    if first in RESERVED:
        raise MemoryFailure("reserved_path", f"{first} is reserved.")
    if len(parts) > DEPTH or len("/".join(parts).encode()) > PATH_BYTES:
        raise _invalid(f"A path has at most {DEPTH} names and {PATH_BYTES} bytes.")
    for name in parts:
        shown = folded(name)
        if len(name.encode()) > NAME_BYTES:
            raise _invalid(f"A name has at most {NAME_BYTES} bytes.")
        if not shown or name[-1] in ". " or shown[-1] in ". " or name[0] == " ":
            raise _invalid("A name neither begins with a space nor ends with a space or a dot.")
        if _UNSEEN.search(name):
            raise _invalid("A name holds no characters that are not seen.")
        if _FORBIDDEN.search(name) or "/" in shown or _FORBIDDEN.search(shown):
            raise _invalid("A name holds neither a backslash nor a colon.")
        if _DEVICE.fullmatch(shown) or shown in (".", ".."):
            raise _invalid("That name means a device elsewhere.")


def _invalid(message: str) -> MemoryFailure:
    return MemoryFailure("path_invalid", message)
