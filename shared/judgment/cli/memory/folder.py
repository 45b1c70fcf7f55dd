"""A new folder that files are written into, and nowhere else.

Each part of a path is opened below the one before and never through a link, so that neither a
server's answer nor another program on this machine can lead a write out of it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from judgment.kit.errors import InvalidRequest
from judgment.kit.files import refusal, shown, write_all
from judgment.memory.transfer.names import arriving

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o644


class Folder:
    """The folder while it is open."""

    def __init__(self, place: Path, descriptor: int):
        self.place = place
        self._descriptor = descriptor

    def write(self, path: str, content: bytes) -> None:
        """Put a file at a path, whole or not at all; a link that stands there is replaced.

        Raises InvalidRequest for a path that leads out, Unavailable for what the system refuses.
        """
        *above, name = arriving(path).split("/")
        try:
            with self._below(above) as folder:
                _write(folder, name, content)
        except OSError as error:
            raise refusal(error, self.place / path) from error

    @contextmanager
    def _below(self, segments: list[str]) -> Generator[int]:
        """The folder beneath, made where it is missing."""
        here = os.dup(self._descriptor)
        try:
            for segment in segments:
                with suppress(FileExistsError):
                    os.mkdir(segment, dir_fd=here)
                beneath = os.open(segment, _FOLDER, dir_fd=here)
                os.close(here)
                here = beneath
            yield here
        finally:
            os.close(here)


@contextmanager
def opened(place: Path) -> Generator[Folder]:
    """The folder, made where there is none. Raises InvalidRequest for one that is not empty."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(place, _FOLDER)
    except (FileExistsError, NotADirectoryError) as error:
        raise InvalidRequest(f"{shown(place)} is not a folder of its own.") from error
    except OSError as error:
        raise refusal(error, place, "made") from error
    try:
        if os.listdir(descriptor):
            raise InvalidRequest(f"{shown(place)} is not empty.")
        yield Folder(place, descriptor)
    finally:
        os.close(descriptor)


def _write(folder: int, name: str, content: bytes) -> None:
    """Raises OSError."""
    beside = f".{os.urandom(8).hex()}.part"
    descriptor = os.open(beside, _NEW, _MODE, dir_fd=folder)
    try:
        try:
            write_all(descriptor, content)
        finally:
            os.close(descriptor)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(beside, dir_fd=folder)
        raise
