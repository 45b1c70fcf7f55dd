"""`solve`: a group's ranking, ballots counted, and a trace derived again.

The ranking is made here from files, or by the API where a participant is an owner that it knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from judgment.cli.output import emit, say
from judgment.cli.preferences.inputs import STDIN, read_text
from judgment.cli.preferences.wiring import place
from judgment.kit.clock import utc_now
from judgment.kit.errors import InvalidRequest
from judgment.preferences.documents import view
from judgment.preferences.solver import (
    ballots_from,
    ballots_in,
    constraints_from,
    count,
    options_from,
    parsed,
    participants_from,
    solution_object,
    verify,
    words,
)
from judgment.preferences.solver import solve as ranked

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.preferences.solver import Ballot, Count

NOT_OF_A_DOCUMENT = frozenset(("as_of", "audience", "purpose"))
"""What `get` prints beside a document's own fields."""
WEIGHED = frozenset(("value", "confidence", "observed_at", "half_life_days", "strength"))
"""By these an entry can be weighed anew; what was disclosed to an audience lacks them."""
REFUSED = 1
_NAMED = re.compile(r"# ALTERNATIVE NAME ([0-9]{1,10}): ?(.*)")


def solve(**asked: Any) -> int | None:
    """Print the ranking, what is out, and the trace, with --words in plain words too; for --verify
    whether a trace holds, 1 where it does not."""
    _check(asked)
    if asked["trace"] is not None:
        return _verified(asked["trace"])
    emit(_counted(asked) if asked["ballots"] is not None else _solved(asked))
    return None


def _check(asked: Mapping[str, Any]) -> None:
    """Raises InvalidRequest unless one thing is asked, with at most one file from stdin."""
    files = ("options", "participants", "constraints", "ballots", "trace")
    given = [name for name in files if asked[name] is not None]
    group = {"options", "participants"} <= set(given) <= set(files[:3])
    if not group and given not in (["ballots"], ["trace"]):
        raise InvalidRequest("Give --options and --participants, or --ballots, or --verify.")
    if asked["method"] is not None and given != ["ballots"]:
        raise InvalidRequest("--method says how ballots are counted: give --ballots too.")
    if [asked[name] for name in files].count(STDIN) > 1:
        raise InvalidRequest("Only one file can be read from stdin.")


def _solved(asked: Mapping[str, Any]) -> dict[str, Any]:
    conditions = asked["constraints"]
    given = _read(asked["participants"], "--participants")
    if _names_owners(given):
        return _decided_there(asked, given)
    people = _people(given, utc_now())
    solution = ranked(
        options_from(_read(asked["options"], "--options")),
        participants_from(people),
        policy=asked["policy"],
        normalise=asked["normalise"],
        constraints=constraints_from(_read(conditions, "--constraints")) if conditions else (),
        veto_below=asked["veto_threshold"],
        forced_order=asked["forced_order"],
    )
    return solution_object(solution, in_words=asked["words"])


def _names_owners(people: Any) -> bool:
    """Whether the API has to be asked: only it knows owners and what they opened."""
    rows = cast("list[Any]", people) if isinstance(people, list) else []
    known = [cast("Mapping[str, Any]", one) for one in rows if isinstance(one, Mapping)]
    return place().store == "hosted" and any({"owner", "self"} & one.keys() for one in known)


def _decided_there(asked: Mapping[str, Any], people: Any) -> dict[str, Any]:
    from judgment.cli.preferences.api import PreferencesApi
    from judgment.cli.wiring import access

    conditions: str | None = asked["constraints"]
    request: dict[str, Any] = {
        "options": _read(asked["options"], "--options"),
        "participants": people,
        "policy": asked["policy"],
        "normalise": asked["normalise"],
        "constraints": _read(conditions, "--constraints") if conditions else [],
        "veto_below": asked["veto_threshold"],
        "forced_order": asked["forced_order"],
        "words": asked["words"],
    }
    return PreferencesApi(access()).solve(request).model_dump(mode="json")


def _counted(asked: Mapping[str, Any]) -> dict[str, Any]:
    text = read_text(asked["ballots"], "--ballots")
    try:
        ballots = ballots_from(parsed(text)) if text.lstrip().startswith("[") else ballots_in(text)
    except InvalidRequest as refused:
        raise InvalidRequest(f"--ballots: {refused.message}") from refused
    titles = {found[1]: found[2] for line in text.splitlines() if (found := _NAMED.match(line))}
    candidates = sorted({*titles, *_named(ballots)})
    found = count(ballots, candidates, method=asked["method"] or "condorcet")
    answer: dict[str, Any] = {**_count(found), "trace": found.trace}
    answer["ranking"] = [
        {**one, "title": titles.get(one["candidate"], "")} for one in answer["ranking"]
    ]
    return {**answer, "words": words(found.trace)} if asked["words"] else answer


def _count(found: Count) -> dict[str, Any]:
    return {
        "method": found.trace["inputs"]["method"],
        "digest": found.trace["digest"],
        "winner": found.winner,
        "undefeated": list(found.undefeated),
        "cycle": list(found.cycle),
        "ranking": found.trace["ranking"],
    }


def _named(ballots: Sequence[Ballot]) -> set[str]:
    return {name for ballot in ballots for group in ballot.order for name in group}


def _verified(name: str) -> int | None:
    """Print what in a trace does not follow from its inputs, nor in the answer around it."""
    found = _read(name, "--verify")
    answer: dict[str, Any] | None = None
    if isinstance(found, Mapping) and "trace" in found:
        answer = dict(cast("Mapping[str, Any]", found))
    trace: Any = cast("Any", found) if answer is None else answer["trace"]
    problems = verify(trace)
    if answer is not None and not problems:
        follows = _again(trace["inputs"])
        if answer.get("words"):
            follows["words"] = words(trace)
        names = sorted(name for name in follows.keys() & answer if name != "trace")
        wrong = [name for name in names if not _agree(answer[name], follows[name])]
        problems = [f"{name} does not follow from the trace" for name in wrong]
    emit({"holds": not problems, "problems": problems})
    if problems:
        say("It does not follow from its inputs.")
    return REFUSED if problems else None


def _again(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The answer, by the inputs of a trace that holds."""
    if "ballots" in inputs:
        ballots = ballots_from(inputs["ballots"])
        return _count(count(ballots, inputs["candidates"], method=inputs["method"]))
    veto = inputs["veto_below"]
    solution = ranked(
        options_from(inputs["options"]),
        participants_from(inputs["participants"]),
        policy=inputs["policy"],
        normalise=inputs["normalise"],
        constraints=constraints_from(inputs["constraints"]),
        veto_below=-0.5 if veto is None else veto,
        forced_order=inputs["forced_order"],
    )
    return solution_object(solution, trace=False)


def _agree(said: object, follows: object) -> bool:
    """Whether two JSON values are the same, but for fields of objects that only one has: what the
    API answers has fewer, and titles of candidates stand in no trace."""
    if isinstance(said, Mapping) and isinstance(follows, Mapping):
        one, other = cast("Mapping[str, Any]", said), cast("Mapping[str, Any]", follows)
        return all(_agree(one[name], other[name]) for name in one.keys() & other.keys())
    if isinstance(said, list) and isinstance(follows, list):
        these, those = cast("list[Any]", said), cast("list[Any]", follows)
        return len(these) == len(those) and all(map(_agree, these, those))
    return isinstance(said, bool) is isinstance(follows, bool) and bool(said == follows)


def _read(name: str, what: str) -> Any:
    try:
        return parsed(read_text(name, what))
    except InvalidRequest as refused:
        raise InvalidRequest(f"{what}: {refused.message}") from refused


def _people(value: Any, now: datetime) -> Any:
    """The participants; whoever gave a compiled document as it weighs now."""
    if isinstance(value, list):
        return [_person(one, now) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _person(one, now) for name, one in cast("dict[str, Any]", value).items()}
    return value


def _person(value: Any, now: datetime) -> Any:
    if not isinstance(value, Mapping):
        return value
    fields = cast("Mapping[str, Any]", value)
    said = {name: one for name, one in fields.items() if name not in NOT_OF_A_DOCUMENT}
    keys: Any = said.get("keys")
    if not isinstance(keys, Mapping):
        return said
    if not all(_can_fade(one) for one in cast("Mapping[str, Any]", keys).values()):
        return said
    entries = {
        entry.key: {"weight": entry.weight, "confidence": entry.confidence, "stale": entry.stale}
        for entry in view(said, now)
    }
    return {**said, "keys": entries}


def _can_fade(entry: Any) -> bool:
    return isinstance(entry, Mapping) and cast("Mapping[str, Any]", entry).keys() >= WEIGHED
