"""`prefs capture` and `capture-batch`: kept whole, or refused in words with nothing kept."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.cli.homes import Home, item, stated

pytestmark = pytest.mark.promise("P3-cli", "001-cli")


def test_a_capture_is_kept_compiled_and_told_by_its_id(home: Home) -> None:
    said = home.capture("dining.cuisine.thai", {"liked": True})
    assert said["state"] == "compiled"
    assert said["is_new"] is True
    assert said["replaced"] is None
    entry = home.prefs("get").json["keys"]["dining.cuisine.thai"]
    assert entry["value"] == {"liked": True}
    assert entry["sources"] == [said["id"]]


def test_the_same_statement_again_is_the_same_signal(home: Home) -> None:
    when = ("--observed-at", "2026-06-01T12:00:00Z")
    first = home.capture("tone", "short", *when)
    again = home.capture("tone", "short", *when)
    assert again["id"] == first["id"]
    assert (first["is_new"], again["is_new"]) == (True, False)
    assert home.prefs("get").json["keys"]["tone"]["n_signals"] == 1


def test_a_correction_needs_no_id_and_says_what_it_replaced(home: Home) -> None:
    first = home.capture("tone", "short")
    second = home.capture("tone", "long", "--corrects")
    assert second["supersedes"] == first["id"]
    assert second["replaced"] == {"id": first["id"], "value": "short", "scope": "global"}
    assert home.value("tone") == "long"


def test_a_platforms_correction_stands_above_the_global_statement(home: Home) -> None:
    home.capture("tone", "short")
    said = home.capture("tone", "long", "--corrects", "--scope", "platform:codex")
    assert said["supersedes"] is None
    assert home.value("tone") == "short"
    assert home.value("tone", "--platform", "codex") == "long"


@pytest.mark.parametrize("words", [("--strength", "-0.8"), ("--strength=-0.8",)])
def test_an_aversion_is_a_number_and_no_option(home: Home, words: tuple[str, ...]) -> None:
    home.capture("dining.cuisine.bbq", -1, *words)
    assert home.prefs("get").json["keys"]["dining.cuisine.bbq"]["weight"] == -0.8


def test_a_value_may_come_by_stdin(home: Home) -> None:
    words = stated("note", None)
    words[words.index("null")] = "-"
    home.prefs("capture", *words, stdin='{"a": [1e-9, 12345678901234567890]}')
    assert home.value("note") == {"a": [1e-9, 12345678901234567890]}


@pytest.mark.promise("P3-defect-09")
def test_a_half_life_may_be_null_and_a_facts_is(home: Home) -> None:
    home.capture("a", 1, "--half-life", "null")
    home.capture("b", 1)
    home.prefs("capture", "--key", "c", "--value", "1", "--kind", "fact", "--platform", "codex")
    held = home.prefs("get").json["keys"]
    assert {key: one["half_life_days"] for key, one in held.items()} == {
        "a": None,
        "b": 90.0,
        "c": None,
    }
    assert held["c"]["strength"] == 1.0


@pytest.mark.promise("P3-defect-09", "P3-refuse")
@pytest.mark.parametrize("option", ["--half-life", "--strength", "--confidence"])
@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e999"])
def test_no_number_may_be_infinite_or_none(home: Home, option: str, number: str) -> None:
    said = home.prefs("capture", *stated("a", 1), f"{option}={number}", code=2)
    assert said.out == ""
    assert "must be" in said.err
    assert not home.root.exists()


REFUSED = {
    "strength 2": (["--strength=2"], "strength must be a number from -1 to 1"),
    "strength -1.1": (["--strength=-1.1"], "strength must be a number from -1 to 1"),
    "strength words": (["--strength=much"], "is not a valid float"),
    "confidence 1.5": (["--confidence=1.5"], "confidence must be a number from 0 to 1"),
    "half-life 0": (["--half-life=0"], "half_life_days must be a finite number above 0, or null"),
    "half-life -1": (["--half-life=-1"], "half_life_days must be a finite number above 0, or null"),
    "half-life words": (["--half-life=soon"], "--half-life is a number of days, or null"),
    "value bare": (["--value=thai"], "A text needs its quotes"),
    "value nan": (["--value=NaN"], "is not JSON"),
    "value deep": ([f"--value={'[' * 40}{']' * 40}"], "value"),
    "value too long": ([f"--value={json.dumps('x' * 9000)}"], "value"),
    "value lone surrogate": ([r'--value="\ud800"'], "value"),
    "key empty": (["--key="], "key"),
    "key dots": (["--key=a..b"], "key"),
    "key star": (["--key=dining.*"], "key"),
    "key newline": (["--key=a\nb"], "key"),
    "key bidi": (["--key=a\u202eb"], "key"),
    "scope unknown": (["--scope=somewhere"], "scope"),
    "scope empty": (["--scope=platform:"], "platform"),
    "scope path": (["--scope=platform:../../x"], "platform"),
    "platform path": (["--platform=../x"], "platform"),
    "kind consent": (["--kind=consent"], "'consent' is not one of"),
    "time words": (["--observed-at=yesterday"], "observed_at"),
    "time far": (["--observed-at=0001-01-01T00:00:00Z"], "observed_at"),
    "both": (["--corrects", "--supersedes=x"], "give it or --supersedes"),
    "unknown option": (["--colour=red"], "No such option"),
}


@pytest.mark.promise("P3-defect-10", "P3-refuse")
@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_said_in_words_and_nothing_is_kept(home: Home, case: str) -> None:
    words, reason = REFUSED[case]
    said = home.prefs("capture", *stated("a", 1), *words, code=2)
    assert said.out == ""
    assert reason in said.err
    assert not home.root.exists()


@pytest.mark.promise("P3-defect-10")
def test_a_preference_needs_a_strength(home: Home) -> None:
    words = ("--key", "a", "--value", "1", "--platform", "codex")
    assert "--strength is required" in home.prefs("capture", *words, code=2).err


@pytest.mark.promise("P3-defect-10", "P3-refuse")
@settings(max_examples=60, deadline=None)
@given(
    value=st.text(max_size=20),
    number=st.one_of(st.floats().map(repr), st.text(max_size=6)),
    key=st.text(max_size=20),
)
def test_whatever_is_given_there_is_an_id_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, value: str, number: str, key: str
) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    words = [f"--key={key}", f"--value={value}", f"--strength={number}", "--platform=codex"]
    environment_safe = [word for word in words if "\0" not in word]
    said = home.prefs("capture", *environment_safe, code=None)
    assert said.code == (2 if said.out == "" else 0)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", said.out + said.err)


def test_a_batch_is_kept_in_its_order_by_array_and_by_lines(home: Home, tmp_path: Path) -> None:
    changes = [item("indent", "tabs"), item("indent", "spaces"), item("tone", "short")]
    array = tmp_path / "array.json"
    array.write_text(json.dumps(changes))
    said = home.prefs("capture-batch", "--file", str(array), "--platform", "codex").json
    assert (said["captured"], said["new"]) == (3, 3)
    assert home.value("indent") == "spaces"
    lines = "\n\n".join(json.dumps(one) for one in (item("indent", "spaces"), changes[0]))
    home.prefs("capture-batch", "--file", "-", "--platform", "codex", stdin=lines)
    assert home.value("indent") == "tabs"


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"key": "b", "value": 1, "strength": 9}', "strength"),
        ('{"key": "b", "value": NaN, "strength": 0.5}', "not JSON"),
        ('{"key": "b", "value": 1', "not JSON"),
        ("[]", "must be an object"),
        (
            '{"key": "b", "value": 1, "strength": 0.5, "colour": "red"}',
            "a field that is not of version 1",
        ),
        ('{"key": "b", "value": 1, "strength": 0.5, "kind": "consent"}', "consent"),
        ('{"key": "b", "value": 1, "strength": 0.5, "corrects": 1}', "corrects"),
        ('{"key": "b", "value": 1, "strength": 0.5, "source": 3}', "source"),
    ],
)
def test_a_batch_with_one_bad_line_keeps_none(home: Home, bad: str, reason: str) -> None:
    lines = "\n".join([json.dumps(item("a", 1)), bad, json.dumps(item("c", 3))])
    said = home.prefs("capture-batch", "--file", "-", "--platform", "codex", code=2, stdin=lines)
    assert said.out == ""
    assert "line 2" in said.err
    assert reason in said.err
    assert not home.root.exists()


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1,", "not JSON"),
        (b'[{"key": "a", "value": 1, "strength": 0.5}]', "platform"),
    ],
)
def test_a_batch_that_cannot_be_read_is_refused(home: Home, content: bytes, reason: str) -> None:
    said = home.prefs("capture-batch", "--file", "-", code=2, stdin=content)
    assert reason in said.err


def test_a_file_that_is_not_there_is_said_to_be_so(home: Home) -> None:
    said = home.prefs("capture-batch", "--file", "/no/such/file", code=2)
    assert "--file cannot be read: No such file" in said.err


@pytest.mark.promise("P3-refuse")
def test_an_interrupted_import_says_so_and_keeps_nothing(home: Home, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = home.started("capture-batch", "--platform", "codex", "--file", str(pipe))
    with pipe.open("w"):  # opens when it is being read
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("", "Interrupted.\n")
    assert process.returncode == 130
    assert not home.root.exists()
