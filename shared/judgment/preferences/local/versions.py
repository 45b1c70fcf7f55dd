"""Documents as they were before: the newest twenty of each name, numbered from 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judgment.kit.files import make_folder, write_private
from judgment.preferences.local.places import PLATFORMS, VERSIONS

KEPT = 20


@dataclass(frozen=True, slots=True)
class Version:
    """One earlier state of a file."""

    number: int
    path: Path


def versions(root: Path, name: str) -> list[Version]:
    """The kept versions of a name, oldest first."""
    folder = root / VERSIONS / name
    found = [path for path in folder.glob("*.json") if path.stem.isdecimal()]
    return sorted((Version(int(path.stem), path) for path in found), key=lambda v: v.number)


def keep_version(root: Path, name: str, data: bytes) -> None:
    """Keep a state of a file and let go of what is beyond the newest twenty. Raises Unavailable."""
    kept = versions(root, name)
    number = kept[-1].number + 1 if kept else 1
    path = root / VERSIONS / name / f"{number:06}.json"
    make_folder(path.parent)
    write_private(path, data)
    for version in kept[: max(len(kept) + 1 - KEPT, 0)]:
        version.path.unlink(missing_ok=True)


def document_versions(root: Path) -> Iterator[Path]:
    """The path of each kept version of each document."""
    above = root / VERSIONS
    yield from sorted((*above.glob("compiled/*.json"), *above.glob(f"{PLATFORMS}/*/*.json")))
