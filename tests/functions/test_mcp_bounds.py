"""A result fits the strictest client, says what it leaves out, and hides no character."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.mcp.bounds import RESULT_LIMIT, as_text, fits, fitting_entries, shortened
from judgment.contract.preferences import Preferences, Solved, Why
from judgment.kit.errors import TooLarge
from tests.fakes.gateway import mcp_door
from tests.fakes.mcp_calls import ERAS, Ask, call, modern, problem, result
from tests.fakes.rest_api import FakeRest
from tests.fakes.rest_preferences import PATH, SOLVE, entry, page, solved, why, with_preferences

if TYPE_CHECKING:
    import httpx2

    from functions.mcp.door import McpDoor

LARGEST = "\u202e" * (8 * 1024 // 3)
"""The value of 8 KiB that grows most when it is escaped."""


class PagedRest(FakeRest):
    """Gives as many of its entries as are asked for."""

    def __init__(self, entries: list[dict[str, Any]]):
        super().__init__()
        self.entries = entries
        with_preferences(self)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        limit = int(request.url.params.get("limit", 100))
        more = "next" if limit < len(self.entries) else None
        shown = page(*self.entries[:limit], total=len(self.entries), next_cursor=more)
        self.answers[PATH] = (200, shown)
        return super()._answer(request)


@pytest.fixture
def rest() -> FakeRest:
    return with_preferences(FakeRest())


@pytest.fixture
def door(rest: FakeRest) -> Iterator[McpDoor]:
    with mcp_door(rest) as made:
        yield made


def size(told: dict[str, Any]) -> int:
    """Bytes of the text of a result."""
    return len(told["content"][0]["text"].encode())


@pytest.mark.promise("P3-mcp")
@ERAS
def test_forty_ordinary_entries_are_one_page(era: Ask) -> None:
    rest = PagedRest([entry(f"dining.cuisine.kind-{n}", "often") for n in range(41)])
    with mcp_door(rest) as door:
        told = result(door(call(era, "prefs.get"), None))
    assert len(told["structuredContent"]["entries"]) == 40
    assert told["structuredContent"]["next_cursor"] == "next"
    assert size(told) < RESULT_LIMIT
    assert len(rest.requests) == 1


@pytest.mark.promise("P3-mcp")
@ERAS
@pytest.mark.parametrize("value", [LARGEST, "x" * 8_000, "word " * 100])
def test_a_page_that_is_too_long_is_asked_for_again_as_long_as_fits(era: Ask, value: str) -> None:
    rest = PagedRest([entry(f"notes.n{n}", value) for n in range(200)])
    with mcp_door(rest) as door:
        told = result(door(call(era, "prefs.get", limit=200), None))
    structure = told["structuredContent"]
    assert structure["total"] == 200
    assert structure["next_cursor"] == "next"
    assert 1 <= len(structure["entries"]) < 200
    assert RESULT_LIMIT - 17_500 < size(told) <= RESULT_LIMIT
    assert len(rest.requests) == 2


@pytest.mark.promise("P3-mcp")
def test_a_page_that_is_refused_at_the_second_asking_is_refused(
    door: McpDoor, rest: FakeRest
) -> None:
    long = page(*[entry(f"notes.n{n}", "x" * 8_000) for n in range(9)])
    rest.answers[PATH] = (200, long)
    told = problem(door(call(modern, "prefs.get"), None))
    assert told["code"] == "too_large"
    assert "a smaller limit" in told["message"]


@pytest.mark.promise("P3-mcp")
@ERAS
def test_candidates_that_do_not_fit_are_counted(door: McpDoor, rest: FakeRest, era: Ask) -> None:
    rest.answers[f"{PATH}/why"] = (200, {**why(300), "omitted": 7})
    told = result(door(call(era, "prefs.why", key="dining.cuisine.thai"), None))
    structure = told["structuredContent"]
    assert structure["candidates"][0]["verdict"] == "wins"
    assert 0 < len(structure["candidates"]) < 300
    assert len(structure["candidates"]) + structure["omitted"] == 307
    assert size(told) <= RESULT_LIMIT


@pytest.mark.promise("P3-mcp")
@ERAS
def test_a_trace_that_does_not_fit_is_left_out_and_the_answer_says_where_it_is(
    door: McpDoor, rest: FakeRest, era: Ask
) -> None:
    trace = {"steps": [{"option": n, "score": n / 7} for n in range(2_000)]}
    rest.answers[f"{PATH}/solve"] = (200, solved(trace=trace))
    told = result(door(call(era, "prefs.solve", **SOLVE), None))
    structure = told["structuredContent"]
    assert structure["ranking"] == solved()["ranking"]
    assert structure["trace"] == {}
    [word] = structure["words"]
    assert f"{PATH}/solve" in word
    assert size(told) <= RESULT_LIMIT


def test_a_ranking_that_does_not_fit_is_refused_with_what_to_do() -> None:
    names = [{"option": "o" * 100, "rank": n + 1, "score": 0.5} for n in range(400)]
    with pytest.raises(TooLarge, match="fewer options"):
        shortened(Solved.model_validate(solved(ranking=names)))


def test_what_fits_is_passed_on_as_it_is() -> None:
    for held in (Solved.model_validate(solved()), Why.model_validate_json(json.dumps(why(9)))):
        assert shortened(held) is held


@pytest.mark.promise("P3-mcp")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=2_000), min_size=1, max_size=60))
def test_the_number_that_fits_is_the_largest_that_does(values: list[str]) -> None:
    entries = [entry(f"notes.n{n}", value or "-") for n, value in enumerate(values)]

    def held(count: int, cursor: str | None) -> Preferences:
        made = page(*entries[:count], total=len(entries), next_cursor=cursor)
        return Preferences.model_validate_json(json.dumps(made))

    count = fitting_entries(held(len(entries), None))
    assert 1 <= count <= len(entries)
    assert fits(held(count, "c" * 512))
    assert count == len(entries) or not fits(held(count + 1, "c" * 512))


def test_one_entry_with_the_largest_value_fits() -> None:
    sources = [f"0b7d0a63-6f0e-5a39-9d0e-1f6f0a4b2c{n:02}" for n in range(8)]
    full = entry("k" * 200, LARGEST, spelling="K" * 200)
    full["provenance"] |= {"sources": sources, "flags": ["future", "naive_time"]}
    made = page(full, platform="p" * 40, audience="a" * 100, next_cursor="c" * 512)
    assert fits(Preferences.model_validate_json(json.dumps(made)))


@pytest.mark.promise("P3-mcp", "P3-refuse")
def test_no_invisible_or_direction_changing_character_is_shown_raw() -> None:
    unseen = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp")
    ]
    value = "".join(unseen)
    held = Preferences.model_validate_json(json.dumps(page(entry(value=value))))
    text = as_text(held)
    assert not set(unseen) & set(text)
    assert json.loads(text)["entries"][0]["value"] == value
