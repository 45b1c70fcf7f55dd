"""`solve`: a group's ranking, here from files, or at the API where it knows the participants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from judgment.cli.output import emit
from judgment.cli.preferences.inputs import STDIN, read_text
from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver import (
    constraints_from,
    options_from,
    parsed,
    participants_from,
    solution_object,
)
from judgment.preferences.solver import solve as ranked

NOT_OF_A_DOCUMENT = frozenset(("as_of", "audience", "purpose"))
"""What `get` prints beside a document's own fields."""


def solve(
    options: str,
    participants: str,
    policy: str,
    veto_threshold: float,
    normalise: str,
    constraints: str | None,
    forced_order: bool,
    words: bool,
) -> None:
    """Print ranking, exclusions and the trace, with --words in plain words too."""
    if [options, participants, constraints].count(STDIN) > 1:
        raise InvalidRequest("Only one file can be read from stdin.")
    solution = ranked(
        options_from(_read(options, "--options")),
        participants_from(_people(_read(participants, "--participants"))),
        policy=policy,
        normalise=normalise,
        constraints=constraints_from(_read(constraints, "--constraints")) if constraints else (),
        veto_below=veto_threshold,
        forced_order=forced_order,
    )
    emit(solution_object(solution, in_words=words))


def _read(name: str, what: str) -> Any:
    try:
        return parsed(read_text(name, what))
    except InvalidRequest as refused:
        raise InvalidRequest(f"{what}: {refused.message}") from refused


def _people(value: Any) -> Any:
    """The participants, without what `get` says beside the document."""
    if isinstance(value, list):
        return [_person(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _person(one) for name, one in cast("dict[str, Any]", value).items()}
    return value


def _person(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    fields = cast("Mapping[str, Any]", value)
    return {name: one for name, one in fields.items() if name not in NOT_OF_A_DOCUMENT}
