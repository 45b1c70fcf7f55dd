"""This machine's copy of the API's documents: what `get` and `inject` read without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgment.kit.errors import Refusal
from judgment.kit.files import locked, make_folder, read_private, write_private
from judgment.preferences.compiling import encoded
from judgment.preferences.documents import digest_of, view
from judgment.preferences.documents import read_document as parsed
from judgment.preferences.local.checking import Finding
from judgment.preferences.local.places import LOCK, PLATFORMS, document_path, prepared
from judgment.preferences.local.reading import read_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from judgment.contract.preferences import PreferenceEntry, Preferences


def document_from(pages: Sequence[Preferences], platform: str | None) -> dict[str, Any]:
    """The document that the pages of an answer make together."""
    first = pages[0]
    document: dict[str, Any] = {
        "v": 1,
        "platform": platform,
        "compiled_at": (first.compiled_at or first.as_of).isoformat(),
        "keys": {entry.key: _entry(entry, first.as_of) for page in pages for entry in page.entries},
        "quarantined": first.quarantined,
    }
    return {**document, "digest": digest_of(document)}


def _entry(entry: PreferenceEntry, as_of: datetime) -> dict[str, Any]:
    """An entry as a document keeps it; without provenance its weight stands as it is."""
    found: dict[str, Any] = {
        "value": entry.value,
        "weight": entry.weight,
        "confidence": entry.confidence,
        "kind": entry.kind,
        "scope": "global",
        "strength": entry.weight,
        "half_life_days": None,
        "observed_at": as_of.isoformat(),
        "n_signals": 1,
        "sources": [],
    }
    if (known := entry.provenance) is not None:
        found |= {
            "scope": known.scope,
            "strength": known.strength,
            "half_life_days": known.half_life_days,
            "observed_at": known.observed_at.isoformat(),
            "n_signals": known.n_signals,
            "sources": known.sources,
        }
        if known.flags:
            found["flags"] = known.flags
    if entry.stale:
        found["stale"] = True
    if entry.spelling is not None:
        found["spelling"] = entry.spelling
    return found


def minimal(entry: PreferenceEntry) -> dict[str, Any]:
    """What another party may see of an entry."""
    found: dict[str, Any] = {
        "value": entry.value,
        "weight": entry.weight,
        "confidence": entry.confidence,
        "kind": entry.kind,
    }
    return {**found, "stale": True} if entry.stale else found


class Copy:
    """The documents below `root`, laid out like the local store's."""

    def __init__(self, root: Path):
        self._root = root

    def platforms(self) -> set[str]:
        """The platforms that have a document of their own."""
        return {path.stem for path in (self._root / PLATFORMS).glob("*.json")}

    def renew(self, documents: Mapping[str | None, dict[str, Any]]) -> dict[str, list[str]]:
        """Make these documents the copy; what says the same is not written again."""
        changed: list[str] = []
        removed: list[str] = []
        with locked(prepared(self._root) / LOCK):
            for platform, document in documents.items():
                if self._put(platform, document):
                    changed.append(platform or "global")
            for platform in sorted(self.platforms() - set(documents)):
                document_path(self._root, platform).unlink(missing_ok=True)
                removed.append(platform)
        unchanged = [name or "global" for name in documents if (name or "global") not in changed]
        return {"changed": changed, "unchanged": unchanged, "removed": removed}

    def forget(self, key: str) -> int:
        """Take a key out of every document; of how many it was."""
        count = 0
        with locked(prepared(self._root) / LOCK):
            for platform in (None, *sorted(self.platforms())):
                document = read_document(self._root, platform)
                if document is not None and document["keys"].pop(key, None) is not None:
                    self._put(platform, {**document, "digest": digest_of(document)})
                    count += 1
        return count

    def findings(self, now: datetime) -> list[Finding]:
        """Whether each document can be read; none at all is only noted."""
        found: list[Finding] = []
        for platform in (None, *sorted(self.platforms())):
            name = platform or "global"
            try:
                document = read_document(self._root, platform)
                entries = None if document is None else len(view(document, now))
            except Refusal as refusal:
                found.append(Finding("copy", "broken", f"{name}: {refusal.message}"))
            else:
                text = "not fetched yet: compile." if entries is None else f"{entries} entries."
                state = "note" if entries is None else "well"
                found.append(Finding("copy", state, f"{name}: {text}"))
        return found

    def _put(self, platform: str | None, document: dict[str, Any]) -> bool:
        path = document_path(self._root, platform)
        before = read_private(path)
        if before is not None and _digest(before) == document["digest"]:
            return False
        make_folder(path.parent)
        write_private(path, encoded(document).encode())
        return True


def _digest(data: bytes) -> str | None:
    """The digest of what a file really says."""
    try:
        return digest_of(parsed(data))
    except (Refusal, KeyError, TypeError, AttributeError):
        return None
