"""Everything a decision rests on, in one order, whatever order it came in."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.options import Constraint, Option, Participant, checked_number
from judgment.preferences.solver.policies import NORMALISATIONS, POLICIES, Policy
from judgment.preferences.solver.text import shown

_Named = TypeVar("_Named", Option, Participant)

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

MAX_PARTICIPANTS = 500
MAX_OPTIONS = 1_000
MAX_CONSTRAINTS = 200
MAX_LOOKUPS = 2_500_000
"""Participants times the keys of all options: what one solve may cost (about half a second)."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Checked against each other and sorted by id. `veto_below` is None without a veto."""

    options: tuple[Option, ...]
    participants: tuple[Participant, ...]
    constraints: tuple[Constraint, ...]
    policy: Policy
    normalise: str
    veto_below: float | None
    forced_order: bool

    def inputs(self) -> dict[str, Any]:
        """As JSON values, of each participant only the opinions on keys that some option names."""
        named = sorted({key for option in self.options for key in option.keys})
        return {
            "policy": self.policy.name,
            "normalise": self.normalise,
            "veto_below": self.veto_below,
            "forced_order": self.forced_order,
            "options": [
                {
                    "id": one.id,
                    "title": one.title,
                    "keys": list(one.keys),
                    "attributes": dict(one.attributes),
                }
                for one in self.options
            ],
            "participants": [
                {"id": one.id, "keys": _named_opinions(one, named)} for one in self.participants
            ],
            "constraints": [
                {"kind": one.kind, "subject": one.subject, "amount": one.amount, "by": one.by}
                for one in self.constraints
            ],
        }


def stated(
    options: Iterable[Option],
    participants: Iterable[Participant],
    *,
    policy: Any,
    normalise: Any,
    constraints: Iterable[Constraint],
    veto_below: Any,
    forced_order: Any,
) -> Stated:
    """The same in its one order. Raises InvalidRequest."""
    known = POLICIES.get(policy) if isinstance(policy, str) else None
    if known is None:
        raise InvalidRequest(f"policy must be one of {', '.join(POLICIES)}")
    if normalise not in NORMALISATIONS:
        raise InvalidRequest(f"normalise must be one of {', '.join(NORMALISATIONS)}")
    if known.needs_mean and normalise != "mean":
        raise InvalidRequest(f"policy {policy} needs normalise mean")
    if forced_order is not True and forced_order is not False:
        raise InvalidRequest("forced_order must be true or false")
    threshold = checked_number("veto_below", veto_below, -1.0, 1.0)
    chosen = _by_id("option", options, MAX_OPTIONS)
    people = _by_id("participant", participants, MAX_PARTICIPANTS)
    lookups = len(people) * sum(len(one.keys) for one in chosen)
    if lookups > MAX_LOOKUPS:
        raise InvalidRequest(
            f"{len(people)} participants and these options' keys make {lookups} opinions to look "
            f"up, at most {MAX_LOOKUPS}"
        )
    return Stated(
        options=chosen,
        participants=people,
        constraints=_conditions(constraints, {one.id for one in people}),
        policy=known,
        normalise=normalise,
        veto_below=threshold if known.vetoes else None,
        forced_order=forced_order,
    )


def digest_of(inputs: Mapping[str, Any]) -> str:
    """SHA-256 of `Stated.inputs`: shows a change that no derived number could show.

    Of everything but the opinions' numbers as JSON, then all weights, then all confidences as
    little-endian doubles, then a byte for each staleness. As text these numbers would take
    longer to write down than the decision itself.
    """
    people = inputs["participants"]
    texts = {**inputs, "participants": [[one["id"], list(one["keys"])] for one in people]}
    opinions = [opinion for one in people for opinion in one["keys"].values()]
    weights = [one["weight"] for one in opinions]
    confidences = [one["confidence"] for one in opinions]
    digest = hashlib.sha256(_ENCODER.encode(texts).encode())
    digest.update(struct.pack(f"<{2 * len(opinions)}d", *weights, *confidences))
    digest.update(bytes([one["stale"] for one in opinions]))
    return digest.hexdigest()


def text_digest(value: Mapping[str, Any]) -> str:
    """SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(_ENCODER.encode(value).encode()).hexdigest()


def _named_opinions(participant: Participant, named: Sequence[str]) -> dict[str, Any]:
    opinions = participant.opinions
    return {
        key: {"weight": one.weight, "confidence": one.confidence, "stale": one.stale}
        for key in named
        if (one := opinions.get(key)) is not None
    }


def _by_id(what: str, given: Iterable[_Named], most: int) -> tuple[_Named, ...]:
    listed = list(given)
    if not listed:
        raise InvalidRequest(f"a decision needs at least one {what}")
    if len(listed) > most:
        raise InvalidRequest(f"{len(listed)} {what}s, at most {most}")
    ordered = sorted(listed, key=lambda one: one.id)
    for one, next_one in pairwise(ordered):
        if one.id == next_one.id:
            raise InvalidRequest(f"two {what}s are called {shown(one.id)}")
    return tuple(ordered)


def _conditions(given: Iterable[Constraint], people: set[str]) -> tuple[Constraint, ...]:
    ordered = sorted(given, key=lambda one: one.order)
    if len(ordered) > MAX_CONSTRAINTS:
        raise InvalidRequest(f"{len(ordered)} constraints, at most {MAX_CONSTRAINTS}")
    for one in ordered:
        if one.by is not None and one.by not in people:
            raise InvalidRequest(
                f"{one.kind} {shown(one.subject)}: nobody is called {shown(one.by)}"
            )
    if len(set(ordered)) < len(ordered):
        raise InvalidRequest("a constraint stands twice")
    return tuple(ordered)
