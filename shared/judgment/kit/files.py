"""Private files that are written whole or not at all, and a lock over processes.

A file is written beside its place, synced, and moved there; then its folder is synced. What the
system refuses becomes a clear refusal, and nothing half-written is left at the place.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from judgment.kit.errors import Refusal, Unavailable
from judgment.kit.killpoints import reach

FOLDER_MODE = 0o700
FILE_MODE = 0o600
LOCK_SECONDS = 30.0
TEMPORARY = ".part"

REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "you may not",
    errno.EPERM: "you may not",
    errno.ELOOP: "it is a symbolic link",
    errno.ENOTDIR: "a part of its path is no folder",
    errno.EISDIR: "it is a folder",
    errno.ENOENT: "its folder is missing",
    errno.EMFILE: "too many files are open",
    errno.EIO: "the disk reports an error",
}


def refusal(error: OSError, path: Path, what: str = "written") -> Refusal:
    """What the system refused, as a refusal that names the place and the reason."""
    reason = REASONS.get(error.errno or 0) or error.strerror or "the system refused"
    return Unavailable(f"{shown(path)} was not {what}: {reason}.")


def shown(path: Path) -> str:
    """A path fit for a terminal: control characters escaped."""
    text = str(path)
    return text if text.isprintable() else ascii(text)[1:-1]


def make_folder(path: Path) -> None:
    """A private folder (0700), and so what is missing above it. One that exists is left as it is.

    Raises Unavailable.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        for folder in (*reversed(missing), path):
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise refusal(error, path, "made") from error


def write_private(path: Path, data: bytes) -> None:
    """Put `data` at `path`, readable by its owner alone (0600), whole or not at all.

    A symbolic link at the place is replaced, never followed. Raises Unavailable.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}{TEMPORARY}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        reach("files.written")
        beside.replace(path)
        reach("files.replaced")
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise refusal(error, path) from error


def read_private(path: Path) -> bytes | None:
    """What a file holds, or None where there is none.

    Opens once. Raises Unavailable for a symbolic link, for what is no regular file (a pipe would
    never answer), and for what the system refuses.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(error, path, "read") from error
    try:
        size, mode = os.fstat(descriptor).st_size, os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise Unavailable(f"{shown(path)} is not a file.")
        return _read_all(descriptor, size)
    except OSError as error:
        raise refusal(error, path, "read") from error
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(descriptor, max(size, 1) + 1):
        parts.append(part)
    return b"".join(parts)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; a short write goes on where it ended. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable. Raises OSError; a file system that cannot is let be."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def append_private(path: Path, data: bytes, keep: int) -> None:
    """Put `data` behind the first `keep` bytes of a file (made 0600) synced, or not at all.

    What stands behind `keep` is cut off: the rest of a write that died. The caller holds a lock.
    Raises Unavailable; a symbolic link is refused.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        is_new = not path.exists()
        descriptor = os.open(path, flags, FILE_MODE)
        try:
            _append(descriptor, data, keep)
        finally:
            os.close(descriptor)
        if is_new:
            sync_folder(path.parent)
    except OSError as error:
        raise refusal(error, path) from error


def _append(descriptor: int, data: bytes, keep: int) -> None:
    if os.fstat(descriptor).st_mode & 0o077:
        os.fchmod(descriptor, FILE_MODE)
    os.ftruncate(descriptor, keep)
    os.lseek(descriptor, keep, os.SEEK_SET)
    half = len(data) // 2
    try:
        write_all(descriptor, data[:half])
        reach("files.half_appended")
        write_all(descriptor, data[half:])
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, keep)
        raise
    reach("files.appended")


def sweep(folder: Path) -> int:
    """Remove what writes that died have left in a folder; how many. The caller holds a lock."""
    left = list(folder.glob(f".*{TEMPORARY}"))
    for path in left:
        with suppress(FileNotFoundError):
            path.unlink()
    return len(left)


@contextmanager
def locked(path: Path, seconds: float = LOCK_SECONDS) -> Generator[None]:
    """Hold the lock of this file against every other process and thread that asks for it.

    The file (0600) stays. A process that dies lets go. Raises Unavailable when it is not free
    within `seconds` or cannot be made.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, FILE_MODE)
    except OSError as error:
        raise refusal(error, path) from error
    try:
        _wait(descriptor, path, seconds)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise Unavailable(f"{shown(path)} is held by another process.") from None
        except OSError as error:
            raise refusal(error, path) from error
        else:
            return
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
