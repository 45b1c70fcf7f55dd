"""The writer of docs/benchmarks.md."""

from __future__ import annotations

import pytest

from tests.bench.profiles import rendered
from tests.bench.report import BEGIN, END, Budget, Section, Table, place, render, render_table

PAGE = f"# Benchmarks\n\nby hand\n\n{BEGIN}\nold\n{END}\n\nalso by hand\n"


@pytest.mark.promise("P1-accept-7")
def test_only_what_stands_between_the_markers_is_replaced() -> None:
    page = place(PAGE, "new figures")
    assert "new figures" in page
    assert "old" not in page
    assert page.startswith("# Benchmarks\n\nby hand")
    assert page.endswith("also by hand\n")
    assert place(page, "new figures") == page


@pytest.mark.parametrize("page", ["no markers", BEGIN, f"{END}{BEGIN}", f"{PAGE}{PAGE}"])
def test_a_page_without_one_pair_of_markers_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="marker"):
        place(page, "figures")


def test_a_cell_cannot_break_its_row() -> None:
    table = Table(("what", "ms"), (("a | b\nc", "1.0"),))
    assert render_table(table).splitlines()[-1] == "| a \\| b c | 1.0 |"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="cells"):
        render_table(Table(("one", "two"), (("only",),)))


def test_misses_stand_out_and_their_profiles_follow() -> None:
    section = Section(
        "Reads",
        "What was done.",
        tables=(Table(("case", "ms"), (("read", "2.0"),)),),
        budgets=(Budget("read", "≤ 2.5 x", "3.0 x", False), Budget("cpu", "≤ 1", "0.5", True)),
        profiles={"Why the read is over": "  ncalls tottime"},
    )
    text = render([section], "2 cores.")
    assert "| read | ≤ 2.5 x | 3.0 x | **no** |" in text
    assert "| cpu | ≤ 1 | 0.5 | yes |" in text
    assert text.index("## Reads") < text.index("### Why the read is over")


def test_a_profile_names_functions_without_the_machine_s_folders() -> None:
    stats = {
        ("/somewhere/deep/site-packages/psycopg/cursor.py", 10, "execute"): (
            4,
            4,
            0.002,
            0.004,
            {},
        ),
        ("~", 0, "<built-in sleep>"): (2, 2, 0.001, 0.001, {}),
    }
    lines = rendered(stats, 2).splitlines()
    assert lines[1].split() == ["2.0", "1000.0", "2000.0", "psycopg/cursor.py:10", "execute"]
    assert lines[2].split()[:3] == ["1.0", "500.0", "500.0"]
    assert "somewhere" not in "".join(lines)
