"""A search tells lines as they stand, within bounds, and says what it left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.memory.searching import (
    CUT,
    LINE_CHARACTERS,
    MOST_MATCHES,
    TOTAL_CHARACTERS,
    matches,
)

pytestmark = pytest.mark.promise("P4-memory-tools", "R-41")


def found(query: str, *texts: str) -> list[dict[str, Any]]:
    return matches(query, [(f"f{n}", text) for n, text in enumerate(texts)])["matches"]


def test_a_line_is_told_as_it_stands_with_its_place() -> None:
    assert matches("run", [("a.md", "x\n\t- I Run daily \r\ny"), ("b.md", "none")]) == {
        "matches": [{"path": "a.md", "line": 2, "content": "\t- I Run daily "}]
    }


def test_case_does_not_count_and_nothing_is_a_pattern() -> None:
    assert [one["line"] for one in found("STRASSE", "Straße\nstrasse\nStrass")] == [1, 2]
    assert [one["line"] for one in found("a.c", "abc\na.c")] == [2]
    assert [one["line"] for one in found(".*", "abc\n.*")] == [2]


def test_lines_are_those_of_an_editor() -> None:
    assert found("z", "a\u2028b\x0c\x0bc\nz")[0]["line"] == 2


def test_of_a_long_line_the_part_around_the_match_is_told() -> None:
    for before, after in [(0, 3000), (3000, 0), (3000, 3000), (200, 400)]:
        (one,) = found("needle", "a" * before + "NEEDLE" + "b" * after)
        assert "NEEDLE" in one["content"]
        assert len(one["content"]) <= LINE_CHARACTERS
        assert one["content"].startswith(CUT) == (before > 200)
        assert one["content"].endswith(CUT) == (after > 0)


def test_no_more_matches_than_the_bound_and_the_rest_is_counted() -> None:
    exactly = "\n".join(["hit"] * MOST_MATCHES)
    assert set(matches("hit", [("a", exactly)])) == {"matches"}
    told = matches("hit", [("a", exactly), ("b", "hit\nhit")])
    assert len(told["matches"]) == MOST_MATCHES
    assert told["omitted_matches"] == 2
    assert told["limits"] == {
        "max_matches": 50,
        "max_match_content_chars": 500,
        "max_total_content_chars": 20_000,
    }


def test_no_more_text_than_the_bound() -> None:
    line = "x" * LINE_CHARACTERS
    told = matches("x", [("a", "\n".join([line] * MOST_MATCHES))])
    assert len(told["matches"]) == TOTAL_CHARACTERS // LINE_CHARACTERS
    assert told["omitted_matches"] == MOST_MATCHES - len(told["matches"])


def test_once_it_is_full_nothing_is_told_out_of_its_turn() -> None:
    line = "x" * (LINE_CHARACTERS - 1)
    told = matches("x", [("a", "\n".join([line] * 41 + ["x"]))])
    assert [one["line"] for one in told["matches"]] == list(range(1, 41))
    assert told["omitted_matches"] == 2


@given(
    st.lists(st.text("abAB ß\n\r", max_size=1200), max_size=6),
    st.text("abAB", min_size=1, max_size=3),
)
def test_whatever_is_searched_every_matching_line_is_told_or_counted(
    texts: list[str], query: str
) -> None:
    told = matches(query, [(str(n), text) for n, text in enumerate(texts)])
    expected = [
        (str(n), number)
        for n, text in enumerate(texts)
        for number, line in enumerate(text.split("\n"), 1)
        if query.casefold() in line.casefold()
    ]
    kept = [(one["path"], one["line"]) for one in told["matches"]]
    assert kept == expected[: len(kept)]
    assert len(expected) - len(kept) == told.get("omitted_matches", 0)
    assert sum(len(one["content"]) for one in told["matches"]) <= TOTAL_CHARACTERS
    for one in told["matches"]:
        assert query.casefold() in one["content"].casefold()
        assert len(one["content"]) <= LINE_CHARACTERS
        whole = texts[int(one["path"])].split("\n")[one["line"] - 1]
        assert one["content"].removeprefix(CUT).removesuffix(CUT) in whole
    assert len(json.dumps(told)) < 60_000
