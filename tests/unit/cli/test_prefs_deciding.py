"""`prefs why`, `diff` and `solve`: reasons that can be followed, and checked again."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgment.kit.clock import isoformat, utc_now

if TYPE_CHECKING:
    from tests.unit.cli.homes import Home

pytestmark = pytest.mark.promise("P3-cli", "001-cli")

OPTIONS = [
    {"id": "thai-spot", "keys": ["dining.cuisine.thai"]},
    {"id": "bbq-barn", "keys": ["dining.cuisine.bbq"]},
]
PEOPLE = {
    "alice": {"weights": {"dining.cuisine.thai": 0.8, "dining.cuisine.bbq": 0.2}},
    "bob": {"weights": {"dining.cuisine.bbq": -0.8}},
}
PREFLIB = """# FILE NAME: kitchen.soi
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Tea
# ALTERNATIVE NAME 2: Coffee
# ALTERNATIVE NAME 3: Milk
# ALTERNATIVE NAME 4: Nobody's
3: 1,2,3
2: 2,{1,3}
1: 3
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Paths of the two files of a question."""
    made = {"options": OPTIONS, "participants": PEOPLE}
    paths = {name: tmp_path / f"{name}.json" for name in made}
    for name, path in paths.items():
        path.write_text(json.dumps(made[name]))
    return {name: str(path) for name, path in paths.items()}


def _asked(files: dict[str, str], *more: str) -> tuple[str, ...]:
    question = ("--options", files["options"], "--participants", files["participants"])
    return ("solve", *question, *more)


def test_why_lists_every_candidate_and_the_reason(home: Home) -> None:
    first = home.capture("tone", "short")["id"]
    second = home.capture("tone", "long")["id"]
    said = home.prefs("why", "tone").json
    assert said["winner"] == second
    verdicts = {one["signal"]["id"]: (one["verdict"], one["by"]) for one in said["candidates"]}
    assert verdicts == {second: ("wins", None), first: ("older", second)}
    nothing = home.prefs("why", "never.said")
    assert nothing.json["candidates"] == []
    assert "Nothing was ever said" in nothing.err


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize("words", [("a..b",), ("a", "--platform", "X"), ()])
def test_why_refuses_what_is_no_key(home: Home, words: tuple[str, ...]) -> None:
    assert "Error: " in home.prefs("why", *words, code=2).err


def test_diff_tells_what_the_last_change_did(home: Home, tmp_path: Path) -> None:
    home.capture("tone", "short")
    kept = tmp_path / "kept.json"
    kept.write_bytes((home.root / "compiled.json").read_bytes())
    home.capture("tone", "long")
    home.capture("tea", "green")
    last = home.prefs("diff").json
    assert (set(last["added"]), set(last["changed"]), last["same"]) == ({"tea"}, set(), 1)
    both = home.prefs("diff", "--from", str(kept), "--to", str(home.root / "compiled.json")).json
    assert (set(both["added"]), set(both["changed"])) == ({"tea"}, {"tone"})


@pytest.mark.promise("P3-refuse")
def test_diff_refuses_half_a_question_and_what_is_no_document(home: Home, tmp_path: Path) -> None:
    assert "neither" in home.prefs("diff", "--from", "x", code=2).err
    other = tmp_path / "other.json"
    other.write_text("[]")
    said = home.prefs("diff", "--from", str(other), "--to", str(other), code=2)
    assert "--from is no compiled document" in said.err


@pytest.mark.promise("P3-solver", "P3-solver-verify")
def test_solve_ranks_explains_and_its_trace_holds(home: Home, files: dict[str, str]) -> None:
    said = home.prefs(*_asked(files, "--policy", "hard-veto", "--words"))
    answer = said.json
    assert [one["option"] for one in answer["ranking"]] == ["thai-spot"]
    assert [one["option"] for one in answer["excluded"]] == ["bbq-barn"]
    assert answer["words"][-1] == "ranking: thai-spot | vetoed: bbq-barn"
    whole = home.prefs("solve", "--verify", "-", stdin=said.out)
    assert whole.json == {"holds": True, "problems": []}
    alone = json.dumps(answer["trace"])
    assert home.prefs("solve", "--verify", "-", stdin=alone).json["holds"] is True
    answer["ranking"][0]["score"] = 0.9
    shown = home.prefs("solve", "--verify", "-", stdin=json.dumps(answer), code=1).json
    assert shown["problems"] == ["ranking does not follow from the trace"]
    answer["trace"]["ranking"][0]["score"] = 0.9
    counted = home.prefs("solve", "--verify", "-", stdin=json.dumps(answer), code=1).json
    assert "trace.ranking" in counted["problems"][0]
    assert home.prefs("solve", "--verify", "-", stdin="[]", code=1).json["holds"] is False


@pytest.mark.promise("P3-solver-ballots", "P3-solver-verify")
@pytest.mark.parametrize("method", ["borda", "condorcet"])
def test_solve_counts_ballots_and_the_count_holds(home: Home, method: str) -> None:
    said = home.prefs("solve", "--ballots", "-", "--method", method, "--words", stdin=PREFLIB)
    answer = said.json
    assert (answer["method"], answer["winner"]) == (method, "1")
    ranked = {one["candidate"]: one for one in answer["ranking"]}
    assert {name: one["title"] for name, one in ranked.items()} == {
        "1": "Tea",
        "2": "Coffee",
        "3": "Milk",
        "4": "Nobody's",
    }
    assert ranked["4"]["rank"] == 4
    assert answer["words"]
    assert home.prefs("solve", "--verify", "-", stdin=said.out).json["holds"] is True
    lied = json.dumps({**answer, "winner": "2"})
    assert home.prefs("solve", "--verify", "-", stdin=lied, code=1).json["holds"] is False


@pytest.mark.promise("P3-solver-ballots")
def test_ballots_may_be_json_and_condorcet_is_usual(home: Home) -> None:
    ballots = json.dumps([{"order": ["tea", ["milk", "juice"]], "count": 2}, {"order": ["milk"]}])
    answer = home.prefs("solve", "--ballots", "-", stdin=ballots).json
    assert (answer["method"], answer["winner"]) == ("condorcet", "tea")


def _document(home: Home, days: float) -> dict[str, Any]:
    when = isoformat(utc_now() - timedelta(days=days))
    home.capture("dining.cuisine.thai", 1, "--half-life", "10", "--observed-at", when)
    return json.loads((home.root / "compiled.json").read_text())


def test_a_compiled_document_counts_as_it_weighs_now(home: Home, tmp_path: Path) -> None:
    document = _document(home, 20)
    entry = document["keys"]["dining.cuisine.thai"]
    entry["weight"] = 0.8  # as it was when it was compiled, twenty days ago
    question = {"alice": document, "got": home.prefs("get").json, "bob": PEOPLE["bob"]}
    path = tmp_path / "documents.json"
    path.write_text(json.dumps(question))
    options = tmp_path / "o.json"
    options.write_text(json.dumps(OPTIONS[:1]))
    words = ("--options", str(options), "--participants", str(path), "--words")
    said = home.prefs("solve", *words).json["words"]
    weights = [float(line.split()[-1]) for line in said if " weight " in line]
    assert weights == pytest.approx([0.2, 0.2], abs=1e-4)


def test_a_document_with_a_future_statement_counts_too(home: Home, tmp_path: Path) -> None:
    home.capture("dining.cuisine.thai", 1, "--observed-at", "2999-01-01T00:00:00Z")
    document = json.loads((home.root / "compiled.json").read_text())
    assert document["keys"]["dining.cuisine.thai"]["flags"] == ["future"]
    options = tmp_path / "o.json"
    options.write_text(json.dumps(OPTIONS[:1]))
    words = ("solve", "--options", str(options), "--participants", "-")
    said = home.prefs(*words, stdin=json.dumps({"me": document})).json
    assert said["ranking"][0]["score"] == pytest.approx(0.8, abs=1e-4)


def test_what_was_disclosed_has_no_time_and_counts_as_it_stands(home: Home) -> None:
    _document(home, 20)
    home.prefs("consent", "grant", "--key-glob", "*", "--audience", "us", "--level", "solve")
    shown = home.prefs("get", "--for", "us", "--purpose", "solve").json
    options = home.folder / "o.json"
    options.write_text(json.dumps(OPTIONS))
    words = ("solve", "--options", str(options), "--participants", "-", "--words")
    said = home.prefs(*words, stdin=json.dumps({"me": shown})).json["words"]
    assert any("me dining.cuisine.thai weight +0.2" in line for line in said)


@pytest.mark.promise("P3-refuse", "P3-defect-18")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "Give --options and --participants, or --ballots, or --verify"),
        (("--options", "x"), "Give --options and"),
        (("--ballots", "x", "--verify", "y"), "Give --options and"),
        (("--ballots", "x", "--constraints", "y"), "Give --options and"),
        (("--verify", "x", "--method", "borda"), "--method says"),
        (("--options", "-", "--participants", "-"), "Only one file"),
        (("--ballots", "/no/such"), "--ballots cannot be read"),
        (("--verify", "/no/such"), "--verify cannot be read"),
        (("--ballots", "-", "--method", "dice"), "'dice' is not one of"),
        (("--ballots", "-"), "--ballots: line 1"),
        (("--verify", "-"), "--verify: this is not JSON"),
        (("--policy", "dictator"), "'dictator' is not one of"),
    ],
)
def test_solve_refuses_in_words(home: Home, words: tuple[str, ...], reason: str) -> None:
    said = home.prefs("solve", *words, code=2, stdin="tea, please")
    assert said.out == ""
    assert reason in said.err


@pytest.mark.promise("P3-refuse", "P3-defect-18")
@pytest.mark.parametrize(
    "people",
    [
        {"a": {"weights": {"dining.cuisine.thai": 7}}},
        {"a": {"keys": {"dining.cuisine.thai": {"value": 1}}}},
        {"a": {"keys": 3}},
        {
            "a": {
                "v": 1,
                "keys": {
                    "k": {
                        **dict.fromkeys(
                            ("value", "confidence", "observed_at", "half_life_days", "strength"),
                            "x",
                        )
                    }
                },
            }
        },
        {"a": 3},
        [{"weights": {}}],
        {},
        "everybody",
    ],
)
def test_solve_refuses_people_that_are_none(home: Home, files: dict[str, str], people: Any) -> None:
    Path(files["participants"]).write_text(json.dumps(people))
    said = home.prefs(*_asked(files), code=2)
    assert said.out == ""
    assert "Error: " in said.err
