"""`prefs notice` and `drain`: a session's statements, each kept once, whatever dies."""

from __future__ import annotations

import json
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.homes import ENTRY, Home, stated

pytestmark = pytest.mark.promise("P3-cli", "P3-defect-22")

KILLED = f"from judgment.kit.killpoints import arm; arm('candidates.kept'); {ENTRY}"


def _notice(home: Home, key: str, value: Any, session: str = "s1", *more: str) -> Any:
    return home.prefs("notice", *stated(key, value), "--session", session, *more).json


def _drain(home: Home, *more: str) -> Any:
    return home.prefs("drain", "--platform", "codex", *more).json


def _queue(home: Home, session: str = "s1") -> Path:
    return home.root / "candidates" / "codex" / f"{session}.jsonl"


@pytest.mark.promise("P3-defect-01")
def test_the_later_of_two_statements_of_a_session_holds(home: Home) -> None:
    for first, second in (("tabs", "spaces"), ("spaces", "tabs")):
        _notice(home, "indent", first, first)
        said = _notice(home, "indent", second, first)
        assert said["sequence"] == 1
        assert len(_drain(home, "--session", first)["captured"]) == 2
        assert home.value("indent") == second


def test_a_drain_keeps_the_id_and_the_time_that_notice_told(home: Home) -> None:
    noticed = _notice(home, "tone", "short")
    assert home.value("tone") is None
    assert [one["id"] for one in _drain(home)["captured"]] == [noticed["id"]]
    said = home.prefs("why", "tone").json["candidates"][0]["signal"]
    assert said["observed_at"][:23] == noticed["observed_at"][:23]
    assert said["source"] == {"platform": "codex", "agent": None, "session": "s1", "sequence": 0}


def test_draining_again_does_nothing_more(home: Home) -> None:
    _notice(home, "tone", "short")
    assert _drain(home)["new"] == 1
    before = (home.root / "signals.jsonl").read_bytes()
    again = _drain(home)
    assert (again["captured"], again["new"], again["state"]) == ([], 0, "nothing to do")
    assert (home.root / "signals.jsonl").read_bytes() == before


def test_what_was_drained_is_never_overwritten(home: Home) -> None:
    for value in ("one", "two", "three"):
        _notice(home, "tone", value)
        _drain(home, "--session", "s1")
    kept = [json.loads(line)["value"] for line in _queue(home).read_text().splitlines()]
    assert kept == ["one", "two", "three"]
    assert stat.S_IMODE(_queue(home).stat().st_mode) == 0o600


def test_sessions_and_platforms_are_kept_apart(home: Home) -> None:
    _notice(home, "a", 1, "s1")
    _notice(home, "b", 1, "s2")
    words = ("notice", *stated("c", 1, platform="hermes"), "--session", "s1")
    home.prefs(*words)
    assert [one["key"] for one in _drain(home, "--session", "s2")["captured"]] == ["b"]
    assert [one["key"] for one in _drain(home)["captured"]] == ["a"]
    said = home.prefs("drain", "--platform", "hermes", "--agent", "main").json
    assert [one["key"] for one in said["captured"]] == ["c"]
    source = home.prefs("why", "c").json["candidates"][0]["signal"]["source"]
    assert (source["platform"], source["agent"]) == ("hermes", "main")


@pytest.mark.promise("P3-cli-files", "P3-refuse")
def test_many_hands_notice_and_two_drains_lose_and_double_nothing(home: Home) -> None:
    hands = [
        home.started("notice", *stated(f"key{number}", number), "--session", "s1")
        for number in range(12)
    ]
    drains = [home.started("drain", "--platform", "codex") for _ in range(2)]
    told = [json.loads(one.communicate()[0]) for one in (*hands, *drains)]
    assert all(one.returncode == 0 for one in (*hands, *drains))
    assert sorted(one["sequence"] for one in told[:12]) == list(range(12))
    drained = [one["id"] for drain in (*told[12:], _drain(home)) for one in drain["captured"]]
    assert sorted(drained) == sorted(one["id"] for one in told[:12])
    lines = (home.root / "signals.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(drained)
    assert len(home.prefs("get").json["keys"]) == 12


@pytest.mark.promise("P3-cli-files", "P3-refuse")
def test_a_killed_drain_is_done_again_to_the_same_effect(home: Home) -> None:
    noticed = _notice(home, "tone", "short")["id"]
    dying = home.started("drain", "--platform", "codex", code=KILLED)
    dying.communicate()
    assert dying.returncode == -signal.SIGKILL
    again = _drain(home)
    assert [one["id"] for one in again["captured"]] == [noticed]
    assert again["new"] == 0
    assert home.prefs("get").json["keys"]["tone"]["n_signals"] == 1


@pytest.mark.promise("P3-refuse", "P3-defect-04")
def test_a_line_that_is_no_statement_is_set_aside_and_blocks_nothing(home: Home) -> None:
    _notice(home, "a", 1)
    with _queue(home).open("a") as queue:
        queue.write('{"key": "x"\n["no"]\n{"key": "b", "value": 1, "strength": 7}\n')
    _notice(home, "c", 1)
    with _queue(home).open("a") as queue:
        queue.write('{"torn": ')  # died while writing
    _notice(home, "d", 1)
    said = _drain(home)
    assert [one["key"] for one in said["captured"]] == ["a", "c", "d"]
    assert [one["line"] for one in said["set_aside"]] == [2, 3, 4]


@pytest.mark.promise("P3-refuse")
def test_a_notice_is_checked_like_a_capture(home: Home) -> None:
    words = ("notice", *stated("a", 1), "--session", "s1")
    home.prefs(*words, "--strength", "2", code=2)
    home.prefs("notice", *stated("a", 1), code=2)
    home.prefs(*words, "--platform", "../x", code=2)
    assert not home.root.exists()
    _notice(home, "a", 1, "../../x")
    _notice(home, "a", 2, "x" * 200)
    inside = list(home.folder.rglob("*.jsonl"))
    assert {path.parent for path in inside} == {home.root / "candidates" / "codex"}
    assert len(_drain(home, "--session", "../../x")["captured"]) == 1


def test_a_hook_drains_its_session_and_says_nothing(home: Home) -> None:
    _notice(home, "a", 1, "s1")
    _notice(home, "b", 1, "s2")
    event = json.dumps({"session_id": "s1", "hook_event_name": "SessionEnd"})
    said = home.prefs("drain", "--platform", "codex", "--hook", stdin=event)
    assert said.out == ""
    assert set(home.prefs("get").json["keys"]) == {"a"}


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (("--platform", "codex", "--hook"), "no JSON"),
        (("--platform", "codex", "--hook"), '{"session_id": 7}'),
        (("--platform", "../x", "--hook"), "{}"),
        (("--hook",), "{}"),
        (("--hook", "--colour"), "{}"),
    ],
)
def test_a_hook_that_cannot_drain_fails_no_session(
    home: Home, words: tuple[str, ...], stdin: str
) -> None:
    assert home.process("drain", *words, stdin=stdin).out == ""
    assert home.prefs("drain", "--platform", "../x", code=2).err != ""
