"""`why` and `diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from judgment.cli.output import emit, say
from judgment.cli.preferences.inputs import read_text
from judgment.cli.preferences.opening import opened
from judgment.kit.errors import InvalidRequest
from judgment.preferences.documents import read_document
from judgment.preferences.explaining import diff as compared
from judgment.preferences.keys import checked_key, checked_platform

if TYPE_CHECKING:
    from collections.abc import Mapping


def why(key: str, platform: str | None) -> None:
    """Print every candidate for a key and why it holds or not."""
    checked_key(key)
    if platform is not None:
        checked_platform(platform)
    found = opened().why(key, platform)
    emit(found)
    if not found["candidates"]:
        say("Nothing was ever said about this key.")


def diff(platform: str | None, before: str | None, after: str | None) -> None:
    """Print what was added, removed and changed between two documents."""
    if platform is not None:
        checked_platform(platform)
    if (before is None) != (after is None):
        raise InvalidRequest("Give both --from and --to, or neither.")
    if before is not None and after is not None:
        documents = _document(before, "--from"), _document(after, "--to")
    else:
        documents = opened().two(platform)
    emit(_facts(compared(*documents)))


def _document(name: str, what: str) -> Mapping[str, Any]:
    try:
        return read_document(read_text(name, what))
    except InvalidRequest as refused:
        raise InvalidRequest(f"{what} is no compiled document: {refused.message}") from refused


def _facts(found: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", found)
