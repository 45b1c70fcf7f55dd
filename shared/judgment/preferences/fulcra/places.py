"""Where signals lie in an account: our own data type, and annotations of two older systems.

Two hosts that set up at the same moment can make the type twice. Both are read then, and all hosts
write to the one whose id comes first, so that they agree without asking each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from judgment.kit.errors import Unavailable
from judgment.preferences.fulcra.calls import asking
from judgment.preferences.fulcra.records import API_VERSION, BASE_TYPE, TYPE_NAME, type_body
from judgment.preferences.remote import Onboarded

if TYPE_CHECKING:
    from judgment.preferences.fulcra.port import Client

OLDER_NAMES = frozenset({"Preference Signals", "User Preference"})
"""Names of the annotation definitions that the two older systems write to."""


@dataclass(frozen=True, slots=True)
class Places:
    """Ids of data types of ours, the first of which is written to; those archived come last."""

    active: tuple[str, ...]
    archived: tuple[str, ...] = ()


def our_types(client: Client, seconds: float) -> Places:
    """The types of our name that this account owns. Raises Unavailable."""
    with asking("who is signed in", seconds):
        user: Any = client.get_user_info()
    userid = cast("dict[str, Any]", user).get("userid") if isinstance(user, dict) else None
    if not isinstance(userid, str):
        raise Unavailable("Fulcra did not say who is signed in.")
    with asking("the catalogue", seconds):
        entries: Any = client.v1_catalog(fulcra_userid=userid)
    ours = [entry for entry in _objects(entries, "the catalogue") if _is_ours(entry, userid)]
    ids = {str(entry["id"]): bool(entry.get("deprecated")) for entry in ours}
    return Places(
        tuple(sorted(name for name, is_archived in ids.items() if not is_archived)),
        tuple(sorted(name for name, is_archived in ids.items() if is_archived)),
    )


def find_or_make(client: Client, seconds: float) -> Onboarded:
    """The type that signals are written to; made when the account has none. Raises Unavailable."""
    found = our_types(client, seconds).active
    if found:
        return Onboarded(found[0], created=False, others=found[1:])
    with asking("a new data type", seconds):
        made: Any = client.create_data_type(BASE_TYPE, type_body())
    identifier = cast("dict[str, Any]", made).get("id") if isinstance(made, dict) else None
    if not isinstance(identifier, str) or not identifier.startswith(f"{BASE_TYPE}/"):
        raise Unavailable("Fulcra made a data type in a form that is not known.")
    # Another host may have made one meanwhile; the catalogue may also not list ours yet.
    agreed = tuple(sorted({identifier, *our_types(client, seconds).active}))
    return Onboarded(agreed[0], created=agreed[0] == identifier, others=agreed[1:])


def older_definitions(client: Client, seconds: float) -> list[str]:
    """Ids of moment annotations that the two older systems write to. Raises Unavailable."""
    with asking("the annotations", seconds):
        entries: Any = client.annotations_catalog()
    return sorted(
        str(entry["id"])
        for entry in _objects(entries, "the annotations")
        if entry.get("name") in OLDER_NAMES
        and entry.get("annotation_type") == "moment"
        and not entry.get("deleted_at")
        and isinstance(entry.get("id"), str)
    )


def _is_ours(entry: dict[str, Any], userid: str) -> bool:
    identifier = entry.get("id")
    return (
        isinstance(identifier, str)
        and identifier.startswith(f"{BASE_TYPE}/")
        and entry.get("name") == TYPE_NAME
        and entry.get("api_version") == API_VERSION
        and entry.get("fulcra_userid") == userid
    )


def _objects(entries: Any, what: str) -> list[dict[str, Any]]:
    if not isinstance(entries, list):
        raise Unavailable(f"Fulcra gave {what} in a form that is not known.")
    listed = cast("list[Any]", entries)
    return [cast("dict[str, Any]", entry) for entry in listed if isinstance(entry, dict)]
