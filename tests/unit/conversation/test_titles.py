"""The title that a conversation gets from its first message."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.conversation.titles import TITLE_LIMIT, UNTITLED, title_of


@pytest.mark.promise("P4-conversations", "002-12.1")
@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Let's get started", "Let's get started"),
        ("  two\n\nlines\tand\u2028more  ", "two lines and more"),
        ("a" * 80, "a" * 80),
        ("a" * 81, "a" * 77 + "..."),
        ("word " * 30, ("word " * 30)[:77].rstrip() + "..."),
        ("a" * 76 + " bcdef", "a" * 76 + "..."),
        ("\x1b[31mred\x00\x9b", "[31mred"),
        ("\u202eevil\u202c", "evil"),
        ("\ud83d", UNTITLED),
        (" ", UNTITLED),
        ("", UNTITLED),
        ("\u200b\u200d\ufe0f", UNTITLED),
        ("Δοκιμή 🧭", "Δοκιμή 🧭"),
    ],
)
def test_a_title_is_one_line_of_what_was_said_first(said: str, title: str) -> None:
    assert title_of(said) == title


@pytest.mark.promise("P4-conversations")
@given(st.text(st.characters()))
def test_a_title_is_short_visible_storable_and_its_own_title(said: str) -> None:
    title = title_of(said)
    assert 0 < len(title) <= TITLE_LIMIT
    assert title == title.strip()
    assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in title)
    assert "  " not in title
    assert title_of(title) == title
