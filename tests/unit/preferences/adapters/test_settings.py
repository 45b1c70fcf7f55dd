"""Our hooks in a settings file of somebody's: put in once, taken out whole, the rest untouched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.errors import Conflict
from judgment.preferences.adapters.hooks import entries
from judgment.preferences.adapters.settings import with_hooks, without_hooks

OURS = entries("claude-code", ["/opt/my tools/prefs"])
MOVED = entries("claude-code", ["/usr/local/bin/prefs"])
FOREIGN = {"hooks": [{"type": "command", "command": "echo 'hello there'", "timeout": 5}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}) | JSON
GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(HOOK, max_size=3)}, optional={"matcher": st.text()}
)
EVENT = st.sampled_from(["SessionStart", "SessionEnd", "PreCompact", "Stop", "x"])
HOOKS = st.dictionaries(EVENT, st.lists(GROUP, max_size=3).filter(bool))
SETTINGS = st.builds(
    lambda rest, hooks: {**rest, **({"hooks": hooks} if hooks else {})},
    st.dictionaries(st.text().filter(lambda name: name != "hooks"), JSON, max_size=4),
    HOOKS,
)


@pytest.mark.promise("P3-adapters", "P3-defect-25")
@given(SETTINGS)
def test_hooks_put_in_and_taken_out_leave_everything_of_others(settings: dict[str, Any]):
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    there = with_hooks(text, "claude-code", OURS)
    read = json.loads(there)
    for event, group in OURS.items():
        assert read["hooks"][event] == [*settings.get("hooks", {}).get(event, []), group]
    assert {k: v for k, v in read.items() if k != "hooks"} == {
        k: v for k, v in settings.items() if k != "hooks"
    }
    assert with_hooks(there, "claude-code", OURS) == there
    assert json.loads(without_hooks(there, "claude-code") or "") == settings


@pytest.mark.promise("P3-adapters")
def test_hooks_of_an_older_path_are_replaced_and_none_is_doubled():
    there = with_hooks(with_hooks(None, "claude-code", OURS), "claude-code", MOVED)
    assert json.loads(there) == {"hooks": {event: [group] for event, group in MOVED.items()}}


@pytest.mark.promise("P3-adapters")
def test_a_foreign_hook_that_was_put_into_our_group_survives_us():
    settings = json.loads(with_hooks(None, "claude-code", OURS))
    settings["hooks"]["SessionStart"][0]["hooks"].append(FOREIGN["hooks"][0])
    left = json.loads(without_hooks(json.dumps(settings), "claude-code") or "")
    matcher = OURS["SessionStart"]["matcher"]
    assert left == {"hooks": {"SessionStart": [{"matcher": matcher, **FOREIGN}]}}


@pytest.mark.promise("P3-adapters")
def test_hooks_of_another_platform_and_of_nobody_stay():
    text = with_hooks(None, "codex", entries("codex", ["/bin/prefs"]))
    assert without_hooks(text, "claude-code") == text
    assert without_hooks("{}", "claude-code") == "{}"
    assert without_hooks(None, "claude-code") is None
    assert without_hooks("", "claude-code") == ""


def test_the_order_and_the_indent_of_the_file_are_kept():
    text = '{\n\t"zoo": 1,\n\t"model": "opus",\n\t"emoji": "\u00e9"\n}\n'
    there = with_hooks(text, "claude-code", OURS)
    assert there.startswith(
        '{\n\t"zoo": 1,\n\t"model": "opus",\n\t"emoji": "\u00e9",\n\t"hooks": {\n'
    )
    assert without_hooks(there, "claude-code") == text


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        "// mine\n{}",
        '{"a": 1, "a": 2}',
        '{"hooks": {"Stop": [], "Stop": []}}',
        '{"n": NaN}',
        '{"n": 1e999}',
        "[]",
        '"x"',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {"Stop": ["echo"]}}',
        '{"hooks": {"Stop": [{"command": "echo"}]}}',
        "[" * 100_000,
        "\ufeff{}",
    ],
)
def test_what_is_no_settings_file_is_refused_as_it_is(text: str):
    with pytest.raises(Conflict, match="left as it is"):
        with_hooks(text, "claude-code", OURS)


def test_text_that_cannot_stand_in_utf_8_is_kept_as_its_escape():
    there = with_hooks('{"odd": "\\ud800"}', "claude-code", OURS)
    assert json.loads(there.encode())["odd"] == "\ud800"
