"""`prefs consent` and `prefs ledger`: every step has a history, and the history can be checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.homes import Home

pytestmark = pytest.mark.promise("P3-cli", "P3-consent")


def _grant(home: Home, glob: str, *more: str) -> None:
    home.prefs("consent", "grant", "--key-glob", glob, "--audience", "bob", *more)


@pytest.mark.promise("P3-defect-08")
def test_a_narrow_revoke_narrows_and_names_the_grant_it_touched(home: Home) -> None:
    home.capture("dining.tea", 1)
    home.capture("tone", 1)
    _grant(home, "*")
    words = ("consent", "revoke", "--key-glob", "dining.*", "--audience", "bob")
    said = home.prefs(*words)
    assert [one["key_glob"] for one in said.json["touches"]] == ["*"]
    assert set(home.prefs("get", "--for", "bob").json["keys"]) == {"tone"}
    nobody = home.prefs(*words[:-1], "carol")
    assert nobody.json["touches"] == []
    assert "No grant covered these keys" in nobody.err


def test_a_deny_stays_until_it_is_lifted(home: Home) -> None:
    home.capture("dining.tea", 1)
    _grant(home, "dining.*", "--deny")
    _grant(home, "*")
    assert home.prefs("get", "--for", "bob", code=1).json["keys"] == {}
    assert (
        "no such deny"
        in home.prefs(
            "consent", "grant", "--key-glob", "dining.tea", "--audience", "bob", "--lift"
        ).err
    )
    _grant(home, "dining.*", "--lift")
    assert set(home.prefs("get", "--for", "bob").json["keys"]) == {"dining.tea"}
    history = home.prefs("consent", "list").json
    assert [one["effect"] for one in history["events"]] == ["deny", "allow", "lift", "lift"]


def test_a_grant_may_end_by_itself(home: Home) -> None:
    home.capture("dining.tea", 1)
    _grant(home, "*", "--expires", "2999-01-01T00:00:00Z")
    assert set(home.prefs("get", "--for", "bob").json["keys"]) == {"dining.tea"}
    assert home.prefs("consent", "list").json["events"][0]["expires"].startswith("2999-01-01")


@pytest.mark.promise("P3-refuse", "P3-defect-07")
@pytest.mark.parametrize(
    "words",
    [
        ("--key-glob", "din*", "--audience", "bob"),
        ("--key-glob", "*", "--audience", "*"),
        ("--key-glob", "*", "--audience", "self"),
        ("--key-glob", "*", "--audience", ""),
        ("--key-glob", "*", "--audience", "bob", "--level", "own"),
        ("--key-glob", "*", "--audience", "bob", "--expires", "soon"),
        ("--key-glob", "*", "--audience", "bob", "--expires", "2020-01-01T00:00:00Z"),
        ("--key-glob", "*", "--audience", "bob", "--deny", "--lift"),
        ("--key-glob", "*"),
    ],
)
def test_what_cannot_be_granted_is_refused(home: Home, words: tuple[str, ...]) -> None:
    said = home.prefs("consent", "grant", *words, code=2)
    assert said.out == ""
    assert "Error: " in said.err
    assert home.prefs("consent", "list").json["events"] == []


@pytest.mark.promise("P3-ledger", "P3-ledger-chain")
def test_a_touched_ledger_is_found_out(home: Home) -> None:
    home.capture("dining.tea", 1)
    for name in ("bob", "carol", "dave"):
        home.prefs("get", "--for", name, code=1)
    assert home.prefs("ledger", "verify").json["intact"] is True
    assert len(home.prefs("ledger", "show", "--limit", "2").json["entries"]) == 2
    path = home.root / "ledger.jsonl"
    path.write_text(path.read_text().replace("carol", "clara"))
    said = home.prefs("ledger", "verify", code=1).json
    assert said["intact"] is False
    assert said["problems"]
    assert home.prefs("doctor", code=1).json["healthy"] is False
    home.prefs("ledger", "begin-again", code=2)
    assert home.prefs("ledger", "begin-again", "--yes").json["length"] == 0
    home.prefs("ledger", "begin-again", "--yes", code=1)
    home.prefs("get", "--for", "bob", code=1)
    assert len(home.prefs("ledger", "show").json["entries"]) == 1
    (kept,) = (home.root / "versions" / "ledger").iterdir()
    assert "clara" in kept.read_text()


@pytest.mark.promise("P3-defect-17")
def test_no_capture_reaches_consent_or_ledger(home: Home) -> None:
    forged = json.dumps(
        {"kind": "consent", "key": "consent.disclosure.bob", "value": {}, "strength": 1}
    )
    words = ("capture-batch", "--platform", "codex", "--file", "-")
    home.prefs(*words, code=2, stdin=forged)
    assert home.prefs("ledger", "show").json["entries"] == []
    home.prefs("ledger", "show", "--limit", "0", code=2)
