"""What a hook prints, what it hears, and the entries that make a host run it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.preferences.adapters.hooks import HOOKED, entries, heard, is_ours, session_of, spoken

BLOCK = 'He said "```" \u00e9\n\u2028 \U0001f600'


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("platform", ["claude-code", "codex", "kitchen"])
def test_a_session_start_says_exactly_this_and_nothing_else(platform: str):
    said = spoken(platform, "the block", {})
    assert said == (
        '{"hookSpecificOutput": {"hookEventName": "SessionStart", '
        '"additionalContext": "the block"}}\n'
    )


@pytest.mark.promise("P3-adapters")
@given(st.text(min_size=1))
def test_any_block_is_said_in_one_line_of_ascii(block: str):
    said = spoken("codex", block, {})
    assert said.isascii()
    assert said.count("\n") == 1
    assert json.loads(said)["hookSpecificOutput"]["additionalContext"] == block


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("platform", ["claude-code", "codex", "hermes"])
def test_of_nothing_nothing_is_said(platform: str):
    assert spoken(platform, "", {"extra": {"is_first_turn": True}}) == ""


def test_hermes_hears_it_once_per_conversation_though_it_asks_at_each_turn():
    assert json.loads(spoken("hermes", BLOCK, {"extra": {"is_first_turn": True}})) == {
        "context": BLOCK
    }
    for event in ({"extra": {"is_first_turn": False}}, {"extra": {}}, {"extra": "yes"}, {}):
        assert spoken("hermes", BLOCK, event) == ""


@pytest.mark.parametrize("text", ["", "no", "[1]", "3", "[" * 200_000, '"session_id"'])
def test_what_is_no_event_is_heard_as_an_empty_one(text: str):
    assert heard(text) == {}
    assert session_of(heard(text)) is None


def test_the_session_is_the_one_that_the_host_names():
    assert session_of(heard('{"session_id": "s-1", "source": "resume"}')) == "s-1"
    for other in ('{"session_id": 3}', '{"session_id": ""}', "{}"):
        assert session_of(heard(other)) is None


@pytest.mark.promise("P3-adapters", "P3-defect-25", "001-adapters")
@pytest.mark.parametrize("platform", HOOKED)
def test_a_session_begins_in_four_ways_and_every_hook_has_its_time(platform: str):
    groups = entries(platform, ["/bin/prefs"])
    assert groups["SessionStart"]["matcher"] == "startup|resume|clear|compact"
    hooks = [hook for group in groups.values() for hook in group["hooks"]]
    assert all(hook["type"] == "command" and 0 < hook["timeout"] <= 10 for hook in hooks)


@pytest.mark.promise("P3-adapters", "P3-defect-23")
@pytest.mark.parametrize("platform", HOOKED)
def test_a_queue_is_drained_at_compaction_and_the_end_of_a_session_and_at_no_turn(platform: str):
    groups = entries(platform, ["/bin/prefs"])
    assert set(groups) == {"SessionStart", "PreCompact", "SessionEnd"}
    for event, group in groups.items():
        word = "inject" if event == "SessionStart" else "drain"
        assert [hook["command"].split()[1] for hook in group["hooks"]] == [word]


@pytest.mark.promise("P3-adapters", "P3-defect-25")
@pytest.mark.parametrize(
    "folder", ["it's here", 'a "b" $HOME `id`', "semi;colon & more", "\u00e9\u00e8"]
)
def test_a_path_reaches_the_shell_as_one_word(folder: str):
    printing = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    command = entries("codex", [*printing, folder])["SessionStart"]["hooks"][0]["command"]
    heard_by_it = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=True
    ).stdout
    wanted = [folder, "inject", "--platform", "codex", "--format", "hook"]
    assert heard_by_it.strip() == str(wanted)


@pytest.mark.promise("P3-adapters")
def test_a_hook_is_ours_by_how_its_command_ends_whatever_it_begins_with():
    for program in (["/usr/bin/prefs"], ["/opt/my tools/judgment", "prefs"]):
        for group in entries("codex", program).values():
            assert is_ours("codex", group["hooks"][0])
            assert not is_ours("claude-code", group["hooks"][0])
    foreign: list[object] = [
        {"type": "command", "command": "echo inject --platform codex --format hook; rm x"},
        {"type": "command", "command": "inject --platform codex --format hook"},
        {"type": "command", "command": "prefs inject --platform codex --format text"},
        {"type": "command", "command": "it's broken"},
        {"type": "command", "command": ["prefs", "inject"]},
        {"type": "prompt", "prompt": shlex.join(["prefs", "inject"])},
        "prefs inject --platform codex --format hook",
        None,
    ]
    assert not any(is_ours("codex", hook) for hook in foreign)
