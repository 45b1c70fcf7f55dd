"""Every promise has a test or a stated deferral, and no test cites a promise that is not there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.requirements import (
    BUILT,
    BY_ID,
    PARTS,
    PROMISES,
    Citation,
    read_citations,
)


@pytest.fixture(scope="module")
def citations() -> tuple[Citation, ...]:
    return read_citations()


@pytest.mark.promise("P1-1")
def test_every_promise_of_a_built_part_has_a_test(citations: tuple[Citation, ...]) -> None:
    shown = {identifier for c in citations if not c.skipped for identifier in c.ids}
    owed = [p for p in PROMISES if p.deferral is None and p.id not in shown]
    assert not owed, "promises without a test:\n" + "\n".join(f"  {p.id}: {p.text}" for p in owed)


def test_every_cited_promise_exists(citations: tuple[Citation, ...]) -> None:
    unknown = [(c.test, i) for c in citations for i in c.ids if i not in BY_ID]
    assert not unknown


def test_every_promise_is_stated_once_and_says_who_keeps_it() -> None:
    doubled = [i for i, count in Counter(p.id for p in PROMISES).items() if count > 1]
    assert not doubled
    assert {p.part for p in PROMISES} == {None, *PARTS}
    assert all(p.text for p in PROMISES)
    assert all(p.note for p in PROMISES if p.part is None)
    assert PARTS.keys() >= BUILT


@pytest.mark.parametrize(
    ("prefix", "count"), [("FR-0", 18), ("NFR-0", 15), ("AC-0", 41), ("R-", 45), ("P1-accept-", 7)]
)
def test_no_numbered_requirement_of_the_sources_is_missing(prefix: str, count: int) -> None:
    pattern = re.compile(re.escape(prefix) + r"\d+")
    numbers = {i for i in BY_ID if pattern.fullmatch(i)}
    assert len(numbers) == count


@pytest.mark.promise("R-45")
def test_the_promises_hold_no_names_of_people() -> None:
    tables = sorted({p.table for p in PROMISES})
    text = " ".join(f"{p.text} {p.note}" for p in PROMISES)
    assert tables
    assert not re.search(r"\b(Jon\w+|Dav[e] [WJ]|Davi[d])\b", text)


def test_a_marker_is_found_on_functions_classes_and_modules(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "test_x.py").write_text(
        "import pytest\n"
        "pytestmark = [pytest.mark.promise('A')]\n"
        "@pytest.mark.promise('B')\n"
        "class TestIt:\n"
        "    @pytest.mark.promise('C', 'D')\n"
        "    async def test_a(self): ...\n"
        "@pytest.mark.skip(reason='x')\n"
        "def test_b(): ...\n"
        "def helper(): ...\n"
    )
    assert read_citations(tmp_path / "t") == (
        Citation("t/test_x.py::TestIt::test_a", ("A", "B", "C", "D"), False),
        Citation("t/test_x.py::test_b", ("A",), True),
    )
