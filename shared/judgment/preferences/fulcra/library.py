"""Documents as files of the store: absolute paths, written only when they say something new.

The store keeps earlier versions by itself and has no conditional write: of two hosts that publish
at the same moment the last one stays, and the other's text is a version.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.kit.hashing import sha256_hex
from judgment.preferences.fulcra.calls import asking
from judgment.preferences.remote import Published

if TYPE_CHECKING:
    from judgment.preferences.fulcra.port import Client

PLATFORMS = "platforms"
LARGEST_BYTES = 16 * 1024 * 1024
CONTENT_TYPE = "application/json"
_PATH = re.compile(r"(?:[a-z0-9_-][a-z0-9._-]{0,79}/){0,3}[a-z0-9_-][a-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file. `current` is what a reader gets."""

    id: str
    uploaded_at: str
    size: int
    current: bool


class Library:
    """The files below one folder of an account."""

    def __init__(self, client: Client, folder: str, seconds: float):
        if not folder.startswith("/"):
            raise InvalidRequest("The folder at Fulcra must be an absolute path.")
        self._client = client
        self._folder = folder.rstrip("/")
        self._seconds = seconds

    def publish(self, files: Mapping[str, str]) -> Published:
        """Write the texts that differ from what is there, and take away what is no more.

        `files` is the whole set. Documents are compared by the digest that they carry, so that one
        which only was compiled later is not written again. A document of a platform that is not
        among them is deleted (the store keeps it as a version); files of others are let be.
        Raises InvalidRequest for a path that is not plain, Unavailable.
        """
        written = self.write(files)
        unchanged = sorted(files.keys() - set(written))
        return Published(tuple(written), tuple(unchanged), tuple(self._drop_stale(files)))

    def write(self, files: Mapping[str, str]) -> list[str]:
        """Write the texts that differ from what is there; their paths. Raises as `publish`."""
        for path in files:
            if not _PATH.fullmatch(path):
                raise InvalidRequest(f"Not a path of a document: {path!a}")
        return [path for path in sorted(files) if self._put(path, files[path])]

    def fetch(self, path: str) -> str | None:
        """The current text of a file, or None where there is none. Raises Unavailable."""
        current = [version for version in self.versions(path) if version.current]
        return self.fetch_version(current[0].id) if current else None

    def versions(self, path: str) -> list[Version]:
        """All versions of a file that can still be read, newest first. Raises Unavailable."""
        folder, _, name = f"{self._folder}/{path}".rpartition("/")
        found = self._listed(folder, "uploaded,archived", name)
        read = [_version(entry) for entry in found]
        return sorted(read, key=lambda kept: (kept.current, kept.uploaded_at), reverse=True)

    def fetch_version(self, identifier: str) -> str:
        """The text of one version. Raises Unavailable."""
        with asking("a document", self._seconds):
            answer = self._client.download_file(identifier)
            try:
                content = answer.read(LARGEST_BYTES + 1)
            finally:
                answer.close()
            text = content.decode()
        if len(content) > LARGEST_BYTES:
            raise Unavailable("A document at Fulcra is larger than any of ours.")
        return text

    def _put(self, path: str, text: str) -> bool:
        there = self.fetch(path)
        if there is not None and _sense(there) == _sense(text):
            return False
        content = text.encode()
        with asking(f"the upload of {path}", self._seconds):
            self._client.upload_file(
                io.BytesIO(content), CONTENT_TYPE, len(content), f"{self._folder}/{path}"
            )
        return True

    def _drop_stale(self, files: Mapping[str, str]) -> list[str]:
        dropped: list[str] = []
        for entry in self._listed(f"{self._folder}/{PLATFORMS}", "uploaded", None):
            path = f"{PLATFORMS}/{entry.get('name')}"
            if path in files or not path.endswith(".json"):
                continue
            version = _version(entry)
            if _digest(self.fetch_version(version.id)) is not None:
                with asking("the removal of a document", self._seconds):
                    self._client.delete_file(version.id)
                dropped.append(path)
        return dropped

    def _listed(self, folder: str, states: str, name: str | None) -> list[dict[str, Any]]:
        with asking("its list of files", self._seconds):
            listing: Any = self._client.list_files(folder or "/", state=states, base_name=name)
        found: Any = cast("dict[str, Any]", listing).get("files") if _is_object(listing) else None
        if not isinstance(found, list) or not all(_is_object(e) for e in cast("list[Any]", found)):
            raise Unavailable("Fulcra listed files in a form that is not known.")
        return cast("list[dict[str, Any]]", found)


def _sense(text: str) -> str:
    """What a text says: the digest a document carries, else the digest of the text."""
    return _digest(text) or sha256_hex(text)


def _digest(text: str) -> str | None:
    """The digest that a document carries; None for a text that is no document."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    digest: Any = cast("dict[str, Any]", content).get("digest") if _is_object(content) else None
    return f"document {digest}" if isinstance(digest, str) else None


def _version(entry: dict[str, Any]) -> Version:
    identifier, size = entry.get("id"), entry.get("size")
    if not isinstance(identifier, str):
        raise Unavailable("Fulcra listed files in a form that is not known.")
    return Version(
        identifier,
        str(entry.get("uploaded_at", "")),
        size if isinstance(size, int) else 0,
        entry.get("state") == "uploaded",
    )


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)
