"""What the solver will not decide on, and how it says so."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from judgment.kit.errors import InvalidRequest
from judgment.preferences.compiling import compile_signals
from judgment.preferences.documents import RARE
from judgment.preferences.solver import (
    Constraint,
    Opinion,
    Option,
    Participant,
    constraints_from,
    options_from,
    parsed,
    participants_from,
    solve,
)
from tests.unit.preferences.solver.groups import option, person
from tests.unit.preferences.statements import NOW, days_ago, kept, said

pytestmark = pytest.mark.promise("P3-solver", "P3-refuse", "P3-defect-18")

PLAN, ANN = option("plan", "key"), person("ann", key=0.5)


def refusal(call: Any) -> str:
    """The words of the refusal, which are one printable line."""
    with pytest.raises(InvalidRequest) as caught:
        call()
    assert caught.value.message.isprintable()
    return caught.value.message


@pytest.mark.parametrize(
    "number", [math.nan, math.inf, -math.inf, 1.01, -1.01, True, "0.5", None, 10**400]
)
def test_a_weight_is_a_number_from_minus_one_to_one(number: Any) -> None:
    said = refusal(lambda: Participant("ann", {"key": Opinion(number)}))
    assert said.startswith("participant ann: key: weight must be ")


@pytest.mark.parametrize("number", [math.nan, math.inf, 1.5, -0.1, False, "1", None])
def test_a_confidence_is_a_number_from_zero_to_one(number: Any) -> None:
    said = refusal(lambda: Participant("ann", {"key": Opinion(0.5, number)}))
    assert said.startswith("participant ann: key: confidence must be ")


@pytest.mark.parametrize("stale", [0, 1, None, "false"])
def test_stale_is_true_or_false(stale: Any) -> None:
    said = refusal(lambda: Participant("ann", {"key": Opinion(0.5, 1.0, stale)}))
    assert said == "participant ann: key: stale must be true or false"


def test_nothing_to_choose_and_nobody_to_ask_are_refused() -> None:
    assert refusal(lambda: solve([], [ANN])) == "a decision needs at least one option"
    assert refusal(lambda: solve([PLAN], [])) == "a decision needs at least one participant"


def test_two_of_one_name_are_refused() -> None:
    assert refusal(lambda: solve([PLAN, PLAN], [ANN])) == "two options are called plan"
    assert refusal(lambda: solve([PLAN], [ANN, ANN])) == "two participants are called ann"
    said = refusal(lambda: option("plan", "key", "other", "key"))
    assert said == "option plan: key key stands twice"


def test_one_key_in_two_spellings_is_one_key() -> None:
    composed, decomposed = "café", "cafe\u0301"
    assert "stands twice" in refusal(lambda: option("plan", composed, decomposed))
    weights = {composed: Opinion(0.5), decomposed: Opinion(-0.5)}
    assert "stands twice" in refusal(lambda: Participant("ann", weights))
    kelvin = {"K": Opinion(0.5), "\u212a": Opinion(0.5)}
    assert "stands twice" in refusal(lambda: Participant("ann", kelvin))
    found = solve([option("plan", decomposed)], [Participant("ann", {composed: Opinion(0.5)})])
    assert found.ranking[0].score == 0.5


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"policy": "majority"}, "policy must be one of weighted-sum"),
        ({"policy": ["nash"]}, "policy must be one of"),
        ({"normalise": "max"}, "normalise must be one of mean, none"),
        ({"policy": "nash", "normalise": "none"}, "policy nash needs normalise mean"),
        ({"veto_below": math.nan}, "veto_below must be a finite number"),
        ({"veto_below": -2}, "veto_below must be within [-1, 1]"),
        ({"forced_order": 1}, "forced_order must be true or false"),
        ({"constraints": [Constraint("requires", "key", by="bob")]}, "nobody is called bob"),
        ({"constraints": [Constraint("requires", "key")] * 2}, "a constraint stands twice"),
    ],
)
def test_an_unknown_way_of_deciding_is_refused(how: dict[str, Any], words: str) -> None:
    assert words in refusal(lambda: solve([PLAN], [ANN], **how))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Constraint("forbids", "key"), "a constraint is one of requires, excludes"),
        (lambda: Constraint("at_most", "price"), "at_most price: amount must be a number"),
        (lambda: Constraint("at_least", "price", math.inf), "amount must be a finite number"),
        (lambda: Constraint("requires", "key", 3.0), "requires key takes no amount"),
        (lambda: Constraint("requires", ""), "must be a text that is not empty"),
        (lambda: Option("", ("key",)), "an option's id must be a text that is not empty"),
        (lambda: Option("plan", "key"), "keys must be a list of texts"),
        (lambda: Option("plan", ("",)), "a key must be a text that is not empty"),
        (lambda: Option("plan", (7,)), "a key must be a text that is not empty"),
        (lambda: Option("plan", ("a\ud800",)), "half a character"),
        (lambda: Option("plan", (), "x" * 1_001), "title must be a text of at most 1000"),
        (lambda: option("plan", price=math.nan), "attribute price must be a finite number"),
        (lambda: Option("plan", (), "", [1]), "attributes must be numbers by name"),
        (lambda: Participant("ann", [("key", 1)]), "opinions must be given by key"),
        (lambda: Participant("ann", {"key": 0.5}), "key has no opinion to it"),
        (lambda: Participant("ann", {"": Opinion(0.5)}), "a key must be a text"),
        (lambda: Participant("a\nb" * 80, {}), "has 240 characters, at most 200"),
    ],
)
def test_what_is_no_option_opinion_or_condition_is_refused(build: Any, words: str) -> None:
    assert words in refusal(build)


def test_limits_are_refused_beyond_and_met_within() -> None:
    people = [person(f"p{n}", key=0.5) for n in range(501)]
    assert len(solve([PLAN], people[:500]).trace["contributions"]) == 500
    assert refusal(lambda: solve([PLAN], people)) == "501 participants, at most 500"
    plans = [option(f"o{n}", "key") for n in range(1_001)]
    assert len(solve(plans[:1_000], [ANN]).ranking) == 1_000
    assert refusal(lambda: solve(plans, [ANN])) == "1001 options, at most 1000"
    keys = [f"k{n}" for n in range(51)]
    assert len(option("plan", *keys[:50]).keys) == 50
    assert refusal(lambda: option("plan", *keys)) == "option plan: 51 keys, at most 50"
    wide = [option(f"o{n}", *keys[:11]) for n in range(500)]
    assert "at most 2500000" in refusal(lambda: solve(wide, people[:500]))
    many = [Constraint("requires", f"k{n}") for n in range(201)]
    assert "201 constraints" in refusal(lambda: solve([PLAN], [ANN], constraints=many))
    attributes = {f"a{n}": 1.0 for n in range(51)}
    assert "51 attributes" in refusal(lambda: option("plan", **attributes))


@pytest.mark.promise("P3-solver")
def test_options_are_read_and_a_hole_in_one_is_named() -> None:
    value = [{"id": "plan", "keys": ["b", "a"], "title": "A plan", "attributes": {"price": 3}}]
    assert options_from(value) == (Option("plan", ("a", "b"), "A plan", {"price": 3.0}),)
    for broken, words in (
        ({}, "options must be a list"),
        ([3], "option 1 must be an object"),
        ([{"id": "plan"}], "option 1 has no keys"),
        ([{"keys": []}], "option 1 has no id"),
        ([{"id": "plan", "keys": [], "colour\n": 1}], 'unknown fields: "colour\\n"'),
    ):
        assert words in refusal(lambda broken=broken: options_from(broken))


@pytest.mark.promise("P3-solver")
def test_participants_are_read_from_weights_documents_and_by_name() -> None:
    expected = Participant("ann", {"key": Opinion(0.5, 0.8, True), "other": Opinion(-1.0)})
    entry = {"weight": 0.5, "confidence": 0.8, "stale": True}
    document = {
        "v": 1,
        "platform": None,
        "compiled_at": "2026-06-10T12:00:00+00:00",
        "digest": "0" * 64,
        "quarantined": 0,
        "keys": {
            "key": {**entry, "value": {"likes": True}, "n_signals": 2, "sources": ["x"]},
            "other": {"weight": -1, "value": None, "kind": "fact", "scope": "global"},
        },
    }
    weights = {"key": entry, "other": -1}
    for value in (
        [{"id": "ann", "weights": weights}],
        [{"id": "ann", **document}],
        {"ann": document},
        {"ann": {"weights": weights}},
    ):
        assert participants_from(value) == (expected,)


def test_every_field_that_a_compile_can_write_is_passed_over() -> None:
    """With a time ahead of the clock, without a zone, in another spelling, above another entry."""
    ahead = said("cafe\u0301.oat", observed_at="2999-01-01T00:00:00")
    faint = said("editor.indent", half_life_days=None, observed_at=days_ago(400))
    own = said("editor.indent", scope="platform:codex")
    document = compile_signals(kept([ahead, faint, own]), NOW).documents["codex"]
    fields = {name for entry in document["keys"].values() for name in entry}
    assert fields >= {"beneath", *RARE}
    [read] = participants_from([{"id": "ann", **document}])
    assert read.opinions.keys() == document["keys"].keys()


def test_what_is_no_participant_is_refused() -> None:
    for broken, words in (
        ("ann", "participants must be a list"),
        ([["ann"]], "a participant must be an object"),
        ([{"id": "ann"}], "a participant has no keys"),
        ([{"keys": {}}], "a participant has no id"),
        ([{"id": "ann", "keys": []}], "opinions must be an object by key"),
        ([{"id": "ann", "weights": {}, "keys": {}}], "unknown fields: keys"),
        ([{"id": "ann", "keys": {"key": {"value": 1}}}], "the entry of key has no weight"),
        ([{"id": "ann", "keys": {"key": {"weight": 1, "vote": 2}}}], "unknown fields: vote"),
        ({"ann": {"id": "bob", "keys": {}}}, "participant ann has another id inside"),
        ([{"id": "ann", "weights": {"key": "0.5"}}], "weight must be a number"),
        ([{"id": "ann", "weights": {"key": None}}], "weight must be a number"),
    ):
        assert words in refusal(lambda broken=broken: participants_from(broken))


def test_constraints_are_read_and_refused() -> None:
    value = [{"kind": "at_most", "subject": "price", "amount": 3, "by": "ann"}]
    assert constraints_from(value) == (Constraint("at_most", "price", 3.0, "ann"),)
    assert "constraint 1 has no subject" in refusal(
        lambda: constraints_from([{"kind": "requires"}])
    )
    assert "unknown fields: who" in refusal(
        lambda: constraints_from([{"kind": "requires", "subject": "key", "who": "ann"}])
    )


def test_json_that_names_a_field_twice_is_refused_and_so_is_what_is_no_json() -> None:
    assert parsed('{"a": [1, 2.5]}') == {"a": [1, 2.5]}
    assert refusal(lambda: parsed('{"key": 0.9, "key": -0.9}')) == (
        "key stands twice in one object"
    )
    assert refusal(lambda: parsed("[1,\n oops]")) == "this is not JSON at line 2"
    assert refusal(lambda: parsed("[" * 100_000)) == "this is not JSON"
    assert refusal(lambda: parsed(b"\xff")) == "this is not JSON"
    not_a_number = parsed(json.dumps([{"id": "ann", "weights": {"key": math.nan}}]))
    assert "finite" in refusal(lambda: participants_from(not_a_number))
