"""An edit has one place and is taken as it is; a file is written whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.memory.edits import (
    COUNTED,
    FILE_BYTES,
    decoded,
    edited,
    elided,
    encoded,
    occurrences,
)
from judgment.memory.model import MemoryFailure

pytestmark = pytest.mark.promise("P4-memory-edit", "R-41")


def refusal(text: str, find: str) -> str:
    with pytest.raises(MemoryFailure) as refused:
        edited(text, find, "x")
    assert (refused.value.code, refused.value.recoverable) == ("invalid_input", True)
    return refused.value.message


@pytest.mark.parametrize(
    "replace", ["$&", "$$5", "$1", "$`", "$'", "\\1", "\\g<0>", "", "{}", "%s"]
)
def test_a_replacement_is_literal(replace: str) -> None:
    assert edited("it costs much.", "much", replace) == f"it costs {replace}."


def test_what_is_looked_for_is_no_pattern_and_keeps_its_case() -> None:
    assert edited("a.c abc (x)*", "a.c", "y") == "y abc (x)*"
    assert edited("(x)* x", "(x)*", "y") == "y x"
    assert "not found" in refusal("Abc", "abc")


def test_what_is_not_there_or_there_twice_is_not_edited() -> None:
    assert "not found" in refusal("text", "texts")
    assert "appears 2 times; add surrounding context" in refusal(
        "To be filled. To be filled.", "be"
    )
    assert "appears 2 times" in refusal("aaa", "aa")
    assert "empty" in refusal("text", "")
    assert "empty" in refusal("", "")


def test_an_edit_can_end_lines_and_span_them() -> None:
    assert edited("a\r\nb\r\n", "a\r\nb", "c\nd") == "c\nd\r\n"


def test_many_places_of_a_long_passage_are_counted_in_no_time() -> None:
    started = time.process_time()
    told = refusal("a" * FILE_BYTES, "a" * (FILE_BYTES // 2))
    assert f"at least {COUNTED} times" in told
    assert time.process_time() - started < 20


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=3), st.text("ab$\\"))
def test_an_edit_changes_its_one_place_and_nothing_else(text: str, find: str, new: str) -> None:
    places = [at for at in range(len(text)) if text.startswith(find, at)]
    assert occurrences(text, find) == len(places)
    if len(places) == 1:
        assert edited(text, find, new) == text[: places[0]] + new + text[places[0] + len(find) :]
    else:
        refusal(text, find)


PLACEHOLDERS = [
    "[rest unchanged]",
    "... (rest of file unchanged) ...",
    "<!-- remaining content unchanged -->",
    "# … existing content …",
    "// ... existing code ...",
    "  [Rest of the document remains the same]  ",
    "(The rest is unchanged.)",
    "[... previous content ...]",
    "- [rest of list unchanged]",
    "{/* rest of the file */}",
    "… rest stays the same …",
    "[keep the rest as is]",
    "<!-- The rest of the file stays as it was -->",
    "## ... other sections unchanged",
    "[existing content here]",
    "... the rest of your plan ...",
    "**[Rest of the file unchanged]**",
    "*... rest of the file unchanged ...*",
    "_(remaining sections unchanged)_",
    "> [rest unchanged]",
    "[unchanged]",
    "[Content omitted for brevity]",
    "[Previous sections omitted for brevity]",
    "[REST UNCHANGED]\r",
]
PROSE = [
    "The rest of the plan is unchanged.",
    "- The rest stays the same",
    "Keep the remaining budget the same.",
    "[existing plan](plan.md)",
    "(see existing content in journal.md)",
    "# Existing content",
    "## Remaining sections",
    "* Other notes",
    "> The rest remains",
    "(I rest on Sundays)",
    "... and the rest is history",
    "- [ ] rest",
    "- [x] Remaining sections",
    "- [ ] Existing notes",
    "(rest)",
    "[Rest]",
    "<b>Existing content</b>",
    "(the rest of my life)",
    "... other notes",
    "...",
    "[...]",
    "---",
    "Unchanged",
    "| unchanged |",
    "[The rest of the file is unchanged, said the editor. I did not believe it.]",
    "[rest unchanged] is what the model wrote where my plan had been",
]


@pytest.mark.parametrize("line", PLACEHOLDERS)
def test_a_line_that_stands_for_others_is_found(line: str) -> None:
    assert elided(f"# Plan\n\nText.\n{line}\nMore.\n") == line.strip()


@pytest.mark.parametrize("line", PROSE)
def test_prose_with_the_same_words_is_not(line: str) -> None:
    assert elided(f"# Plan\n\n{line}\n") is None


def test_a_line_that_the_owner_had_is_theirs() -> None:
    mine = "# How not to write\n\n[rest unchanged]\n"
    assert elided(mine, before=mine) is None
    assert elided(mine + "... (rest of file unchanged) ...\n", before=mine) is not None


@given(st.text(st.characters(categories=["L", "N", "Zs"]), max_size=80))
def test_words_without_a_bracket_or_dots_never_stand_for_others(text: str) -> None:
    assert elided(f"{text} rest of the file unchanged".lstrip()) is None


@given(st.text(max_size=60))
def test_text_goes_into_a_file_and_back_as_it_was(text: str) -> None:
    if "\0" in text:
        with pytest.raises(MemoryFailure):
            encoded(text)
    else:
        assert decoded(encoded(text)) == text


@pytest.mark.parametrize("text", ["\ud800", "a\udc00b", "\0", "a" * (FILE_BYTES + 1)])
def test_what_no_text_file_holds_is_refused(text: str) -> None:
    with pytest.raises(MemoryFailure) as refused:
        encoded(text)
    assert refused.value.code == "invalid_input"


def test_a_file_has_a_mebibyte_and_no_more() -> None:
    assert len(encoded("é" * (FILE_BYTES // 2))) == FILE_BYTES
    with pytest.raises(MemoryFailure):
        encoded("é" * (FILE_BYTES // 2) + "a")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\xc3", b"a\0b", b"\xed\xa0\x80"])
def test_what_is_not_text_is_not_read_as_text(content: bytes) -> None:
    with pytest.raises(MemoryFailure, match="not text"):
        decoded(content)
