"""What the quick path reads, click would read the same way; all else it leaves to click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.cli.commands import group
from judgment.cli.program import JUDGMENT, PREFS
from judgment.cli.quick import arguments, found

if TYPE_CHECKING:
    from judgment.cli.table import Command

pytestmark = pytest.mark.promise("P3-cli", "P3-cli-cold")

QUICK = {row.name: row for row in PREFS.children if row.quick}
WORDS = st.one_of(
    st.sampled_from(
        [
            *("--platform", "--for", "--purpose", "--format", "--help", "--", "-", "-h", "--plat"),
            *("--platform=codex", "--purpose=solve", "--for=", "--format=hook", "--purpose=x"),
            *("read", "solve", "text", "hook", "codex", "dining.*", "", "-1", "--colour"),
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
)


def _by_click(row: Command, words: list[str]) -> dict[str, Any] | None:
    made = group(PREFS).commands[row.name]
    try:
        return click.Command(row.name, params=made.params).make_context(row.name, words).params
    except (click.ClickException, click.exceptions.Exit):
        return None


@pytest.mark.parametrize("name", sorted(QUICK))
@given(words=st.lists(WORDS, max_size=7))
def test_what_is_read_without_click_is_what_click_reads(name: str, words: list[str]) -> None:
    quick = arguments(QUICK[name], words)
    if quick is not None:
        assert quick == _by_click(QUICK[name], list(words))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("get", []),
        ("get", ["dining.*", "--for", "bob", "--purpose=solve", "tone"]),
        ("get", ["--", "--platform"]),
        ("inject", ["--platform", "codex"]),
        ("inject", ["--platform=claude-code", "--format", "hook"]),
    ],
)
def test_what_a_session_start_asks_is_read_without_click(name: str, words: list[str]) -> None:
    read = arguments(QUICK[name], words)
    assert read is not None
    assert read == _by_click(QUICK[name], list(words))


def test_a_command_is_found_by_either_name() -> None:
    assert found(PREFS, ["get", "a"]) == (QUICK["get"], ["a"])
    assert found(JUDGMENT, ["prefs", "inject"]) == (QUICK["inject"], [])
    for words in ([], ["--help"], ["sing"], ["consent"], ["--", "get"]):
        assert found(PREFS, words) is None
