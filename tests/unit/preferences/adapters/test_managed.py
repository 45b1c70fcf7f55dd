"""A block in a Markdown file: put in, replaced in its place, and taken out without a trace."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgment.kit.errors import Conflict
from judgment.preferences.adapters.managed import (
    BEGIN,
    BEGIN_OWN_FILE,
    END,
    with_block,
    without_block,
)

BLOCK = "## Preferences\n\n```text\n- wants x\n```\n"
OURS = f"{BEGIN}\n{BLOCK}{END}\n"
PIECES = st.sampled_from(
    [
        "# Rules",
        "",
        "text",
        "- item",
        "```",
        "```py",
        "~~~",
        "    ```",
        "<!-- other:begin -->",
        "\r",
        " ",
    ]
)
FILES = st.builds(
    lambda lines, newline, last: newline.join(lines) + last,
    st.lists(PIECES, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\r\n"]),
)


@pytest.mark.promise("P3-adapters")
@given(FILES)
def test_a_block_put_in_and_taken_out_leaves_the_file_as_it_was(text: str):
    try:
        changed = with_block(text, BLOCK)
    except Conflict:
        assume(False)
    assert changed.startswith(text)
    assert with_block(changed, BLOCK) == changed
    assert without_block(changed) == text
    other = with_block(changed, "another")
    assert without_block(other) == text
    assert other.split("\n")[-4:-1] == [*(line + _end(changed) for line in (BEGIN, "another", END))]


def _end(text: str) -> str:
    return "\r" if f"{BEGIN}\r\n" in text else ""


@pytest.mark.promise("P3-adapters")
def test_a_block_is_replaced_where_its_owner_moved_it():
    assert with_block(f"top\n{OURS}bottom", "new") == f"top\n{BEGIN}\nnew\n{END}\nbottom"
    assert without_block(f"top\n{OURS}bottom") == "top\nbottom"
    assert without_block(f"{OURS}\nbottom") == "\nbottom"


@pytest.mark.promise("P3-adapters")
def test_a_file_that_was_made_for_the_block_goes_with_it_unless_something_was_added():
    made = with_block(None, BLOCK)
    assert made == f"{BEGIN_OWN_FILE}\n{BLOCK}{END}\n"
    assert without_block(made) is None
    assert without_block(with_block(made, "new") + "\n\n") is None
    assert without_block(made + "mine") == "mine"


def test_a_file_that_was_there_stays_even_when_it_is_empty():
    assert without_block(with_block("", BLOCK)) == ""
    assert without_block(with_block("\n", BLOCK)) == "\n"
    assert without_block("mine") == "mine"
    assert without_block(None) is None


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\nno end",
        f"no begin\n{END}\n",
        f"{END}\n{BEGIN}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n",
        f"{OURS}{OURS}",
        f"{OURS}{END}\n",
        f"{BEGIN}\n```\nopen\n{END}\n",
    ],
    ids=["orphan begin", "orphan end", "reversed", "nested", "doubled", "extra end", "open fence"],
)
def test_marks_that_do_not_pair_up_are_refused(text: str):
    for change in (lambda: with_block(text, BLOCK), lambda: without_block(text)):
        with pytest.raises(Conflict, match="do not pair up"):
            change()


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```md"])
def test_marks_within_a_code_fence_are_an_example_and_no_marks(fence: str):
    text = f"{fence}\n{OURS.replace('```', '``')}{fence.strip().removesuffix('md')}\n"
    assert without_block(text) == text
    assert with_block(text, "new") == f"{text}\n{BEGIN}\nnew\n{END}\n"


@pytest.mark.parametrize(
    "line", [f"  {BEGIN}", f"{BEGIN} ", f"see {BEGIN}", f"`{END}`", f"> {END}"]
)
def test_a_mark_that_is_not_alone_on_its_line_is_none(line: str):
    assert without_block(line) == line
    assert with_block(line, "new").startswith(f"{line}\n{BEGIN}\n")


@pytest.mark.promise("P3-adapters")
def test_nothing_is_put_behind_a_code_fence_that_never_ends():
    for text in ("# Rules\n```\nopen", "~~~\n```\n", "```a`b\n~~~"):
        with pytest.raises(Conflict, match="never ends"):
            with_block(text, BLOCK)
    assert with_block("```a`b\n", BLOCK).endswith(OURS)
