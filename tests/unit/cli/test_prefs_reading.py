"""`prefs get` and `prefs inject`: what holds, as of now, and never in a session's way."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgment.kit.clock import isoformat, utc_now
from tests.unit.cli.homes import Home, stated

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.promise("P3-cli", "001-cli")


def test_before_anything_is_said_there_is_an_empty_document_and_a_hint(home: Home) -> None:
    said = home.prefs("get")
    assert said.json["keys"] == {}
    assert "Nothing has been compiled yet" in said.err
    assert not home.root.exists()


def test_get_weighs_as_of_now_without_compiling_again(home: Home) -> None:
    when = isoformat(utc_now() - timedelta(days=90))
    home.capture("a", 1, "--half-life", "90", "--observed-at", when)
    before = (home.root / "compiled.json").read_bytes()
    assert home.prefs("get").json["keys"]["a"]["weight"] == pytest.approx(0.4, abs=1e-4)
    assert (home.root / "compiled.json").read_bytes() == before


def test_get_takes_keys_and_globs_as_consent_does(home: Home) -> None:
    for key in ("dining", "dining.tea", "dining.cuisine.thai", "diningsecret.x", "tone"):
        home.capture(key, 1)
    assert set(home.prefs("get", "dining.*").json["keys"]) == {"dining.tea", "dining.cuisine.thai"}
    assert set(home.prefs("get", "tone", "dining").json["keys"]) == {"tone", "dining"}
    assert set(home.prefs("get", "*").json["keys"]) == set(home.prefs("get").json["keys"])
    assert home.prefs("get", "nothing.here").json["keys"] == {}


def test_a_platform_without_overrides_has_the_global_preferences(home: Home) -> None:
    home.capture("tone", "short")
    home.capture("tone", "verbose", "--scope", "platform:hermes")
    assert home.value("tone", "--platform", "codex") == "short"
    assert home.value("tone", "--platform", "hermes") == "verbose"


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("din*",), "glob"),
        (("--platform", "../x"), "platform"),
        (("--purpose", "solve"), "give --for too"),
        (("--purpose", "sell"), "'sell' is not one of"),
        (("--for", ""), "audience"),
        (("--for",), "requires an argument"),
    ],
)
def test_get_refuses_a_mistake_in_words(home: Home, words: tuple[str, ...], reason: str) -> None:
    for run in (home.prefs, home.process):
        said = run("get", *words, code=2)
        assert said.out == ""
        assert reason in said.err


@pytest.mark.promise("P3-consent", "P3-ledger", "P3-defect-06")
def test_an_audience_is_shown_what_is_open_to_it_and_the_ledger_knows(home: Home) -> None:
    home.capture("dining.tea", "green", "--half-life", "null")
    home.capture("health.sleep", "late")
    closed = home.prefs("get", "--for", "bob", code=1)
    assert closed.json["keys"] == {}
    assert "Nothing is open to bob" in closed.err
    home.prefs("consent", "grant", "--key-glob", "dining.*", "--audience", "bob")
    shown = home.prefs("get", "--for", "bob").json["keys"]
    tea = {"value": "green", "weight": 0.8, "confidence": 1.0, "kind": "preference"}
    assert shown == {"dining.tea": tea}
    asked = home.prefs("get", "dining.tea", "health.sleep", "--for", "bob")
    assert set(asked.json["keys"]) == {"dining.tea"}
    assert "1 of the keys" in asked.err
    assert home.prefs("get", "--for", "bob", "--purpose", "solve", code=1).json["keys"] == {}
    assert home.prefs("get", "--for", "Bob", code=1).json["keys"] == {}
    told = home.prefs("ledger", "show").json["entries"]
    assert [(one["kind"], one["audience"], one["keys"]) for one in told] == [
        ("denial", "Bob", []),
        ("denial", "bob", []),
        ("disclosure", "bob", ["dining.tea"]),
        ("denial", "bob", ["health.sleep"]),
        ("disclosure", "bob", ["dining.tea"]),
        ("denial", "bob", []),
    ]


@pytest.mark.promise("P3-ledger", "P3-defect-06")
def test_what_cannot_be_written_down_is_not_shown(home: Home) -> None:
    home.capture("dining.tea", "green")
    home.prefs("consent", "grant", "--key-glob", "*", "--audience", "bob")
    (home.root / "ledger.jsonl").mkdir()
    said = home.prefs("get", "--for", "bob", code=1)
    assert "green" not in said.out + said.err
    assert home.value("dining.tea") == "green"


def test_inject_prints_the_block_and_its_forms(home: Home) -> None:
    home.capture("tone", "short")
    text = home.prefs("inject", "--platform", "codex").out
    assert '- wants "tone": "short" [+0.80]' in text
    figures = home.prefs("inject", "--platform", "codex", "--format", "json").json
    assert (figures["shown"], figures["omitted"]) == (1, 0)
    assert figures["text"].strip() == text.strip()
    hook = home.prefs("inject", "--platform", "codex", "--format", "hook").json
    assert hook["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert '"tone"' in hook["hookSpecificOutput"]["additionalContext"]


def _nothing(home: Home) -> None:
    del home


def _empty(home: Home) -> None:
    home.prefs("onboard")


def _faded(home: Home) -> None:
    home.capture("a", 1, "--half-life", "0.001", "--observed-at", "2020-01-01T00:00:00Z")


def _no_json(home: Home) -> None:
    home.capture("a", 1)
    (home.root / "compiled.json").write_text('{"v": 1, "keys": {')


def _no_document(home: Home) -> None:
    home.capture("a", 1)
    (home.root / "compiled.json").write_text('{"v": 1, "keys": {"a": 7}}')


def _folder(home: Home) -> None:
    (home.root / "compiled.json").mkdir(parents=True)


def _pipe(home: Home) -> None:
    home.root.mkdir()
    os.mkfifo(home.root / "compiled.json")


def _huge(home: Home) -> None:
    home.root.mkdir()
    (home.root / "compiled.json").write_bytes(b"[" * 200_000)


SILENT = (_nothing, _empty, _faded, _no_json, _no_document, _folder, _pipe, _huge)


@pytest.mark.promise("P3-refuse", "P3-defect-04")
@pytest.mark.parametrize("spoil", SILENT)
def test_inject_is_silent_when_there_is_nothing_to_say(
    home: Home, spoil: Callable[[Home], None]
) -> None:
    spoil(home)
    for form in ("text", "hook"):
        said = home.process("inject", "--platform", "codex", "--format", form)
        assert (said.out, said.err) == ("", "")


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    "words",
    [
        *((), ("--platform",), ("--platform", "../x"), ("--platform", "codex", "--colour")),
        *(("--platform", "codex", "--format", "song"), ("--platform", ""), ("more", "words")),
    ],
)
def test_a_mistaken_hook_stops_no_session(home: Home, words: tuple[str, ...]) -> None:
    home.capture("a", 1)
    assert home.process("inject", *words).out == ""


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("name", "setting"), [("JUDGMENT_PREFS_STORE", "moon"), ("JUDGMENT_PREFS_DIR", "/dev/null/x")]
)
def test_a_mistaken_setting_stops_no_session(home: Home, name: str, setting: str) -> None:
    broken = Home(home.folder, {name: setting})
    said = broken.process("inject", "--platform", "codex")
    assert (said.out, said.err) == ("", "")
    words = stated("a", 1)
    assert broken.prefs("capture", *words, code=2 if name.endswith("STORE") else 1).err != ""


def test_values_cannot_steer_the_terminal(home: Home) -> None:
    value = "a\x1b[2J\u202eb\u2028\u0085c"
    home.capture("tone", value)
    for words in (("get",), ("why", "tone"), ("inject", "--platform", "codex")):
        out = home.prefs(*words).out
        assert all(one.isprintable() for one in out.replace("\n", ""))
    assert home.value("tone") == value
    narrow = Home(home.folder, {"PYTHONIOENCODING": "ascii"})
    narrow.process("capture", *stated("café", "żółw"))
    assert json.loads(narrow.process("get", "café").out)["keys"]["café"]["value"] == "żółw"
    assert narrow.process("inject", "--platform", "codex").out != ""
