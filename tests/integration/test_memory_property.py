"""Any sequence of calls of two processes leaves files and history consistent, and loses nothing."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.memory_hands import assert_whole
from tests.fakes.people import make_owner
from tests.fakes.rounds import rows
from tests.integration.memory_child import Child, url_of

if TYPE_CHECKING:
    from tests.databases import TestDatabase

Children = tuple[Child, Child]


@pytest.fixture(scope="module")
def children(module_database: TestDatabase) -> Iterator[Children]:
    """Two processes, each with its own connection."""
    made = Child(url_of(module_database)), Child(url_of(module_database))
    yield made
    for child in made:
        child.close()


PLACES = ["a.md", "b/c.md", "b/d.md", "B/c.md", "e"]
CALLS = st.tuples(
    st.sampled_from(["write", "write", "edit", "edit", "delete", "read", "list", "search", "keep"]),
    st.sampled_from([*PLACES, "b"]),
    st.booleans(),
)
SEQUENCES = st.lists(CALLS, min_size=4, max_size=10)


@pytest.mark.promise("P4-memory-property", "P4-memory")
@settings(max_examples=30, deadline=None)
@given(SEQUENCES, SEQUENCES)
def test_whatever_two_processes_do_at_once_nothing_is_lost_or_mixed_up(
    children: Children,
    module_database: TestDatabase,
    one: list[tuple[str, str, bool]],
    other: list[tuple[str, str, bool]],
) -> None:
    owners = [make_owner(module_database), make_owner(module_database)]
    sent: list[list[tuple[str, str, uuid.UUID]]] = []
    for n, (child, sequence) in enumerate(zip(children, (one, other), strict=True)):
        sent.append([])
        for step, (verb, path, is_other) in enumerate(sequence):
            who = owners[1 if is_other else 0]
            text = f"{who} {n}.{step} mark"
            do = "keep" if verb == "keep" else "call"
            child.send(who, do, f"memory_{verb}", **arguments(verb, path, text))
            sent[n].append((verb, path, who))
    made: dict[uuid.UUID, list[str]] = {who: [] for who in owners}
    steps: dict[uuid.UUID, list[tuple[str, Any, Any]]] = {who: [] for who in owners}
    for child, calls in zip(children, sent, strict=True):
        for verb, path, who in calls:
            answer = child.answer()
            stranger = next(owner for owner in owners if owner != who)
            assert str(stranger) not in str(answer)
            if verb == "keep":
                made[who] += ["Mine"] if answer["commit"] else []
            elif "failure" not in answer and answer["expected"]:
                made[who].append(f"{verb.capitalize()} {path}")
                steps[who] += [
                    (at, base, answer["seen"][at]) for at, base in answer["expected"].items()
                ]
    for who in owners:
        assert_whole(module_database, who)
        assert Counter(messages(module_database, who)) == Counter(made[who])
        assert Counter(steps[who]) == Counter(taken(module_database, who))


def arguments(verb: str, path: str, text: str) -> dict[str, Any]:
    """Of a call; every text is another, so that none changes nothing."""
    match verb:
        case "write":
            return {"path": path, "content": text}
        case "edit":
            return {"path": path, "find": "mark", "replace": f"then {text}"}
        case "search":
            return {"query": "mark"}
        case "list":
            return {}
        case "keep":
            return {"owner.md": text}
        case _:
            return {"path": path}


def messages(database: TestDatabase, who: uuid.UUID) -> list[str]:
    return [
        message
        for (message,) in rows(
            database, "SELECT message FROM judgment.memory_commits WHERE user_id = %s", who
        )
    ]


def taken(database: TestDatabase, who: uuid.UUID) -> list[tuple[str, Any, Any]]:
    """What tools made of each file, and of what: path, digest before, digest since."""
    return rows(
        database,
        "SELECT path, before, sha256 FROM (SELECT r.path, r.sha256, r.revision,"
        " lag(r.sha256) OVER (PARTITION BY r.path ORDER BY r.revision) AS before"
        " FROM judgment.memory_revisions r WHERE r.user_id = %s) s"
        " JOIN judgment.memory_commits c ON c.user_id = %s AND c.revision = s.revision"
        " WHERE c.origin = 'tool'",
        who,
        who,
    )
