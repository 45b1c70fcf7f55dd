"""From the stream to the documents in the folder: what says the same is not written again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from judgment.kit.clock import isoformat
from judgment.kit.files import make_folder, read_private, sweep, write_private
from judgment.kit.killpoints import reach
from judgment.preferences.compiling import Report, compile_signals, encoded
from judgment.preferences.documents import Document, InvalidDocument, digest_of, read_document
from judgment.preferences.local.meta import read_meta, write_meta
from judgment.preferences.local.places import PLATFORMS, SIGNALS, VERSIONS, document_path
from judgment.preferences.local.stream import Stream
from judgment.preferences.local.versions import keep_version
from judgment.preferences.signals import Quarantined, read_lines


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a compile did to the files, by name, and what it met."""

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    report: Report
    quarantined: tuple[Quarantined, ...]


def publish(root: Path, now: datetime) -> Outcome:
    """Compile the stream at `now` and put the documents in their places. The lock is held.

    A document of equal digest keeps its file as it is, byte and inode; one that changes leaves its
    former state among the versions; one of a platform without an override is removed.
    """
    signals, bad = read_lines(Stream(root / SIGNALS).read())
    compiled = compile_signals(signals, now, len(bad))
    _tidy(root)
    names = {_name(platform): document for platform, document in compiled.documents.items()}
    changed = tuple(name for name, document in names.items() if _put(root, name, document))
    removed = _removed(root, set(names))
    if changed or removed:
        reach("compile.published")
        write_meta(root, {**read_meta(root), "last_compile": isoformat(now)})
    unchanged = tuple(name for name in names if name not in changed)
    return Outcome(changed, unchanged, removed, compiled.report, tuple(bad))


def _name(platform: str | None) -> str:
    return document_path(Path(), platform).as_posix()


def _put(root: Path, name: str, document: Document) -> bool:
    """Whether the file had to be written."""
    before = read_private(root / name)
    if before is not None:
        if _digest(before) == document["digest"]:
            return False
        keep_version(root, name.removesuffix(".json"), before)
    make_folder((root / name).parent)
    write_private(root / name, encoded(document).encode())
    reach("compile.put")
    return True


def _digest(data: bytes) -> str | None:
    """The digest of what a file really says, whatever it says its digest is."""
    try:
        return digest_of(read_document(data))
    except (InvalidDocument, KeyError, TypeError, AttributeError):
        return None


def _removed(root: Path, names: set[str]) -> tuple[str, ...]:
    """Take away the documents of platforms that have none any more."""
    present = sorted((root / PLATFORMS).glob("*.json"))
    stale = [path for path in present if f"{PLATFORMS}/{path.name}" not in names]
    for path in stale:
        if (data := read_private(path)) is not None:
            keep_version(root, f"{PLATFORMS}/{path.stem}", data)
        path.unlink(missing_ok=True)
        reach("compile.removed")
    return tuple(f"{PLATFORMS}/{path.name}" for path in stale)


def _tidy(root: Path) -> None:
    """Remove what writes that died have left. Nobody else writes here while the lock is held."""
    sweep(root)
    for folder in (root / PLATFORMS, *(root / VERSIONS).rglob("*/")):
        sweep(folder)
