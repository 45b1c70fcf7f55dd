"""The measure of the shape checker itself finds what is too much, too little or of another kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.exactly import ANYTHING, PATH, TIME, Matching, OneOf, exactly, fits

pytestmark = pytest.mark.promise("P4-accept-shapes")

SHAPE = {"id": str, "count": int, "at": TIME, "of": OneOf(None, str), "list": [{"a": 1}]}
RIGHT: dict[str, Any] = {
    "id": "x",
    "count": 1,
    "at": "2026-12-01T08:00:00.000Z",
    "of": None,
    "list": [{"a": 1}, {"a": 1}],
}


def test_what_has_the_shape_is_let_through() -> None:
    exactly(RIGHT, SHAPE)
    exactly({**RIGHT, "of": "x", "list": []}, SHAPE)
    assert fits({"a": 1}, ANYTHING)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("id", 1),
        ("id", None),
        ("count", True),
        ("count", 1.0),
        ("at", "2026-12-01T08:00:00Z"),
        ("at", "2026-12-01T08:00:00.000+00:00"),
        ("of", 1),
        ("list", {}),
        ("list", [{"a": 1}, {"a": 2}]),
        ("list", [{"a": True}]),
        ("list", [{}]),
        ("list", [{"a": 1, "b": 1}]),
    ],
)
def test_what_is_of_another_kind_is_found_and_named(name: str, wrong: Any) -> None:
    with pytest.raises(AssertionError, match=rf"it\.{name}"):
        exactly({**RIGHT, name: wrong}, SHAPE)
    assert not fits({**RIGHT, name: wrong}, SHAPE)


def test_what_is_too_much_or_too_little_is_found() -> None:
    for wrong in ({**RIGHT, "more": 1}, {k: v for k, v in RIGHT.items() if k != "id"}, [], None):
        assert not fits(wrong, SHAPE)


@pytest.mark.parametrize("path", ["/a", "../a", "a/../b", "a/..", "a\\b", ""])
def test_a_path_that_leads_elsewhere_is_none(path: str) -> None:
    assert not fits(path, PATH)
    assert fits("documents/fitness/note..md", PATH)


def test_a_pattern_is_of_the_whole_text() -> None:
    assert not fits("approved!", Matching("approved|denied"))
    assert fits("a\nb", Matching("a.b"))
