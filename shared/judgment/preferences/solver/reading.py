"""JSON values in: options, participants, constraints, ballots, each refused in words if it is none.

A participant is a compiled document with an id beside it, or an id with plain weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.ballots import Ballot
from judgment.preferences.solver.options import Constraint, Opinion, Option, Participant
from judgment.preferences.solver.text import listed, shown

OPTION_FIELDS = frozenset({"id", "keys", "title", "attributes"})
CONSTRAINT_FIELDS = frozenset({"kind", "subject", "amount", "by"})
BALLOT_FIELDS = frozenset({"order", "count"})
OPINION_FIELDS = frozenset({"weight", "confidence", "stale"})
DOCUMENT_FIELDS = frozenset({"id", "v", "platform", "compiled_at", "digest", "keys", "quarantined"})
ENTRY_FIELDS = OPINION_FIELDS | {
    "value",
    "kind",
    "scope",
    "strength",
    "half_life_days",
    "observed_at",
    "counted_from",
    "n_signals",
    "sources",
    "flags",
    "spelling",
    "beneath",
}
"""What a compiled document's entry may hold; all but an opinion's three fields is passed over."""


def parsed(text: str | bytes) -> Any:
    """The JSON value of `text`. Raises InvalidRequest, also where an object names a field twice."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as reason:
        where = f" at line {reason.lineno}" if isinstance(reason, json.JSONDecodeError) else ""
        raise InvalidRequest(f"this is not JSON{where}") from reason


def options_from(value: Any) -> tuple[Option, ...]:
    """Of a list of `{"id", "keys", "title"?, "attributes"?}`. Raises InvalidRequest."""
    return tuple(_option(place, one) for place, one in enumerate(_list("options", value), 1))


def participants_from(value: Any) -> tuple[Participant, ...]:
    """Of a list of participants, or of an object with one under each id. Raises InvalidRequest.

    A participant is a compiled document, `{"id", "keys": {key: {"weight", …}}}`, whose other
    fields are passed over, or `{"id", "weights": {key: number or {"weight", …}}}`. Confidence is
    1 and stale false where they are not given.
    """
    if isinstance(value, Mapping):
        by_id = cast("Mapping[str, Any]", value)
        return tuple(_participant(one, identity) for identity, one in by_id.items())
    return tuple(_participant(one) for one in _list("participants", value))


def constraints_from(value: Any) -> tuple[Constraint, ...]:
    """Of a list of `{"kind", "subject", "amount"?, "by"?}`. Raises InvalidRequest."""
    read: list[Constraint] = []
    for place, one in enumerate(_list("constraints", value), 1):
        what = f"constraint {place}"
        fields = _fields(what, one, CONSTRAINT_FIELDS)
        _require(what, fields, "kind", "subject")
        read.append(
            Constraint(fields["kind"], fields["subject"], fields.get("amount"), fields.get("by"))
        )
    return tuple(read)


def ballots_from(value: Any) -> tuple[Ballot, ...]:
    """Of a list of `{"order", "count"?}`; an order lists names, or lists of names that stand level.

    Raises InvalidRequest.
    """
    read: list[Ballot] = []
    for place, one in enumerate(_list("ballots", value), 1):
        what = f"ballot {place}"
        fields = _fields(what, one, BALLOT_FIELDS)
        _require(what, fields, "order")
        read.append(Ballot(fields["order"], fields.get("count", 1)))
    return tuple(read)


def _option(place: int, value: Any) -> Option:
    what = f"option {place}"
    fields = _fields(what, value, OPTION_FIELDS)
    _require(what, fields, "id", "keys")
    return Option(
        fields["id"], fields["keys"], fields.get("title", ""), fields.get("attributes", {})
    )


def _participant(value: Any, identity: str | None = None) -> Participant:
    what = "a participant" if identity is None else f"participant {shown(identity)}"
    if isinstance(value, Mapping) and "weights" in value:
        fields = _fields(what, value, frozenset({"id", "weights"}))
        held = fields["weights"]
    else:
        fields = _fields(what, value, DOCUMENT_FIELDS)
        _require(what, fields, "keys")
        held = fields["keys"]
    if identity is None:
        _require(what, fields, "id")
    elif fields.setdefault("id", identity) != identity:
        raise InvalidRequest(f"{what} has another id inside")
    if not isinstance(held, Mapping):
        raise InvalidRequest(f"{what}: opinions must be an object by key")
    by_key = cast("Mapping[str, Any]", held)
    return Participant(
        fields["id"],
        {
            key: Opinion(one) if type(one) is float else _opinion(key, one)
            for key, one in by_key.items()
        },
    )


def _opinion(key: str, value: Any) -> Opinion:
    if not isinstance(value, Mapping):
        return Opinion(value)
    fields = cast("Mapping[str, Any]", value)
    if not fields.keys() <= ENTRY_FIELDS:
        unknown = sorted(map(str, fields.keys() - ENTRY_FIELDS))
        raise InvalidRequest(
            f"the entry of {shown(str(key))} has unknown fields: {listed(unknown)}"
        )
    if "weight" not in fields:
        raise InvalidRequest(f"the entry of {shown(str(key))} has no weight")
    return Opinion(fields["weight"], fields.get("confidence", 1.0), fields.get("stale", False))


def _list(what: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidRequest(f"{what} must be a list")
    return cast("list[Any]", value)


def _fields(what: str, value: Any, known: frozenset[str]) -> dict[str, Any]:
    """A copy of an object that has no field but `known` ones."""
    if not isinstance(value, Mapping):
        raise InvalidRequest(f"{what} must be an object")
    fields = dict(cast("Mapping[str, Any]", value))
    if not fields.keys() <= known:
        unknown = sorted(str(name) for name in fields.keys() - known)
        raise InvalidRequest(f"{what} has unknown fields: {listed(unknown)}")
    return fields


def _require(what: str, fields: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if name not in fields:
            raise InvalidRequest(f"{what} has no {name}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidRequest(f"{shown(twice)} stands twice in one object")
    return fields
