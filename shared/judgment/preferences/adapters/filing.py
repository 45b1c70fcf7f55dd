"""One file of somebody's, changed whole or not at all, with what it held kept beside it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from judgment.kit.errors import Conflict
from judgment.kit.files import shown
from judgment.kit.killpoints import reach

BACKUP = ".before-prefs"


@dataclass(frozen=True, slots=True)
class Held:
    """A file as it was read. `real` is where its links lead; `text` is None where there is none."""

    path: Path
    real: Path
    text: str | None


def read(path: Path) -> Held:
    """The file at `path`, through links to a file of the same kind that is the caller's own.

    A link to anything else is refused: a folder from elsewhere could otherwise have us write where
    its maker wants. Raises Conflict for that and for what is no regular UTF-8 file.
    """
    try:
        real = path.resolve()
        if real.is_symlink():  # some Pythons raise for links in a circle, others stop at one
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        facts = real.stat() if real.exists() else None
        is_link = real != path.parent.resolve() / path.name
        if is_link and (real.suffix != path.suffix or (facts and facts.st_uid != os.geteuid())):
            raise Conflict(
                f"{shown(path)} is a link to {shown(real)}, no file of that kind that is yours. "
                "It was left as it is."
            )
        if facts is None:
            return Held(path, real, None)
        if not stat.S_ISREG(facts.st_mode):
            raise Conflict(f"{shown(path)} is no regular file. It was left as it is.")
        if not facts.st_mode & stat.S_IWUSR:
            raise Conflict(f"{shown(path)} is read-only. It was left as it is.")
        return Held(path, real, real.read_bytes().decode())
    except UnicodeDecodeError:
        raise Conflict(f"{shown(path)} is not in UTF-8. It was left as it is.") from None
    except (OSError, RuntimeError) as error:
        raise Conflict(f"{shown(path)} cannot be read: {_reason(error)}.") from error


def change(
    held: Held, text: str | None, *, keep: bool = True, own_folder: bool = False
) -> Path | None:
    """Write `text`, or delete the file where it is None. Returns where the text before is kept.

    The name holds either the old content or the new one, whenever this ends; mode and links stay.
    Without `keep` the text before is not kept; an `own_folder` that is left empty goes too.
    Raises Conflict where the file is not as it was read, or cannot be written.
    """
    if read(held.path).text != held.text:
        raise Conflict(f"{shown(held.path)} changed meanwhile. Run this again.")
    try:
        backup = None
        if held.text is not None and keep:
            backup = held.real.with_name(held.real.name + BACKUP)
            _replace(backup, held.text, held.real)
            reach("filing.kept")
        if text is None:
            held.real.unlink(missing_ok=True)
            if own_folder:
                with contextlib.suppress(OSError):
                    held.real.parent.rmdir()
        else:
            held.real.parent.mkdir(parents=True, exist_ok=True)
            _replace(held.real, text, held.real)
        reach("filing.changed")
    except OSError as error:
        raise Conflict(f"{shown(held.path)} cannot be written: {_reason(error)}.") from error
    return backup


def difference(held: Held, text: str | None) -> str:
    """What `change` would do, as a unified diff; empty for nothing."""
    name = str(held.path)
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in unified_diff(
            (held.text or "").splitlines(keepends=True),
            (text or "").splitlines(keepends=True),
            "/dev/null" if held.text is None else name,
            "/dev/null" if text is None else name,
        )
    )


def _replace(path: Path, text: str, like: Path) -> None:
    """Put `text` at `path` in one step, with the mode of `like` where that exists."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else 0o600
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        reach("filing.written")
        os.replace(name, path)
    finally:
        with contextlib.suppress(FileNotFoundError):  # it has moved, unless something went wrong
            os.unlink(name)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
