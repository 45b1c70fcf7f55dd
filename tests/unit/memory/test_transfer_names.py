"""Which paths come in and go out, and which cannot stand side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest
from judgment.memory.paths import folded
from judgment.memory.transfer.names import Names, arriving

pytestmark = pytest.mark.promise("P4-memory-import", "P4-memory-contain")


@pytest.mark.parametrize(
    "path",
    [
        "AGENT.md",
        "diagnostics/process-guardrails/state/0a.json",
        "Diagnostics/x",
        "preferences/default.json",
        "conversations/x.md",
        ".gitignore",
        "a/.gitmodules",
    ],
)
def test_what_is_foreign_and_inert_comes_along(path: str) -> None:
    assert arriving(path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "..", "/a", "a/", "a//b", "./a", "a/../b", "diagnostics/", "diagnostics/../a"),
        *(".git", ".git/config", ".GIT/config", "a/.git/config", "a/.gIt", "git~1/config"),
        *("diagnostics/.git/config", "diagnostics/a\\b", "a\0b", "a\nb", " a", "u\u0308"),
        "\u200d.git/config",
    ],
)
def test_what_leads_elsewhere_does_not(path: str) -> None:
    with pytest.raises(InvalidRequest):
        arriving(path)


SEGMENTS = st.sampled_from(["a", "A", "b", "\u017f", "s"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _collide(one: str, other: str) -> bool:
    """By the definition: one place for two files, a file for a folder, or two folders."""
    name, their_name = folded(one), folded(other)
    return (
        name == their_name
        or name in map(folded, _above(other))
        or their_name in map(folded, _above(one))
        or any(
            folded(mine) == folded(theirs) and mine != theirs
            for mine in _above(one)
            for theirs in _above(other)
        )
    )


@given(st.lists(PATHS, max_size=8), PATHS)
def test_paths_clash_where_a_file_system_without_case_would_make_them_one(
    given_paths: list[str], path: str
) -> None:
    names = Names()
    taken: list[str] = []
    for other in given_paths:
        if not names.clash(other):
            names.add(other)
            taken.append(other)
    assert names.clash(path) == any(_collide(path, other) for other in taken)
