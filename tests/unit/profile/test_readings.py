"""Each signal against counts made by hand, on decisions as a round records them."""

from __future__ import annotations

from typing import Any

import pytest

from judgment.profile.build import build
from judgment.profile.decision import Decision, Option
from judgment.profile.stimuli import Outcome, Stimuli
from tests.unit.profile.decisions import decision, option

OPTIONS = [
    Option("a", "Hold", drivers={"fairness": 1.0, "thrift": 0.0}, approach="hold"),
    Option("b", "Yield", drivers={"fairness": 0.0, "thrift": 1.0}, approach="yield"),
    Option("none", "None of these"),
]
TURNED_OUT = {"a": Outcome("Badly.", good=False), "b": Outcome("Well.", good=True)}
FAIR = "It is only fair: everyone must be treated the same."
CHEAP = "It is cheaper and we must save money."


def made(number: int, chosen: str, **more: Any) -> Decision:
    place = [o.id for o in OPTIONS].index(chosen)
    stimuli = Stimuli(**more.pop("stimuli", {}))
    return decision(number, OPTIONS, place, stimuli=stimuli, **more)


def numbers(decisions: list[Decision], signal: str) -> dict[str, float]:
    return dict(build(decisions).documents[signal])


def absent(decisions: list[Decision], signal: str) -> bool:
    return signal not in build(decisions).documents


def test_only_a_first_choice_that_was_argued_against_speaks_of_persuadability() -> None:
    against_a = {"counter_arguments": {"a": "But then?"}}
    rounds = [
        made(1, "b", first_option_id="a", stimuli=against_a),
        made(2, "a", first_option_id="a", stimuli=against_a),
        made(3, "none", first_option_id="a", stimuli=against_a),
        made(4, "a", first_option_id="b", stimuli=against_a),
        made(5, "a", stimuli=against_a),
        made(6, "b", first_option_id="a"),
    ]
    assert numbers(rounds, "persuadability") == {"n": 3, "changed": 2, "moved": 3 / 5}


def test_none_of_the_above_goes_against_a_majority() -> None:
    shown = {"majority_option_id": "a"}
    rounds = [made(1, "a", stimuli=shown), made(2, "none", stimuli=shown), made(3, "b")]
    assert numbers(rounds, "dissent_profile") == {"n": 2, "against": 1, "dissented": 0.5}


def test_a_peer_prediction_is_right_where_it_names_the_majority() -> None:
    rounds = [
        made(n, "a", predicted_peer_option_id=said, stimuli={"majority_option_id": "b"})
        for n, said in enumerate(["b", "b", "a", None])
    ]
    rounds.append(made(9, "a", predicted_peer_option_id="b"))
    assert numbers(rounds, "peer_reading") == {"n": 3, "right": 2, "accuracy": 3 / 5}


def test_a_self_prediction_is_right_where_it_names_the_option_taken() -> None:
    rounds = [
        made(n, "a", self_predicted_option_id=said) for n, said in enumerate(["a", "b", None])
    ]
    assert numbers(rounds, "self_awareness") == {"n": 2, "right": 1, "accuracy": 0.5}


@pytest.mark.parametrize(("then", "changed"), [("a", 0), ("b", 1), ("none", 1)])
def test_learning_is_another_approach_after_a_bad_outcome(then: str, changed: int) -> None:
    first = made(1, "a", stimuli={"outcomes": TURNED_OUT})
    after = made(2, then, outcome_of=first.id, stimuli={"sequel_of": first.scenario_id})
    found = numbers([first, after], "learning_rate")
    assert (found["n"], found["changed"], found["adjusted"]) == (1, changed, (changed + 1) / 3)


def test_good_outcomes_stand_beside_learning_and_are_no_part_of_it() -> None:
    good, bad = (made(n, o, stimuli={"outcomes": TURNED_OUT}) for n, o in ((1, "b"), (2, "a")))
    sequels = [
        made(n, "b", outcome_of=of.id, stimuli={"sequel_of": of.scenario_id})
        for n, of in ((3, good), (4, bad))
    ]
    found = numbers([good, bad, *sequels], "learning_rate")
    assert found == {
        "n": 1,
        "changed": 1,
        "adjusted": 2 / 3,
        "good_n": 1,
        "good_kept": 1,
        "good_changed": 0,
    }
    assert absent([good, sequels[0]], "learning_rate")


def test_a_counter_argument_moves_persuadability_and_nothing_else() -> None:
    argued = {"counter_arguments": {"a": "But then?"}}
    yielding = {"first_option_id": "a", "self_predicted_option_id": "a"}
    shown = {**argued, "majority_option_id": "a"}
    first = made(1, "a", stimuli={"outcomes": TURNED_OUT})
    sequel = {**argued, "sequel_of": first.scenario_id}
    rounds = [
        first,
        made(2, "b", stimuli=shown, **yielding),
        made(3, "b", outcome_of=first.id, stimuli=sequel, **yielding),
    ]
    assert numbers(rounds, "persuadability")["changed"] == 2
    assert numbers(rounds, "dissent_profile")["against"] == 0
    assert numbers(rounds, "learning_rate")["changed"] == 0
    assert numbers(rounds, "self_awareness")["right"] == 2


@pytest.mark.parametrize("then", ["a", "none"])
def test_who_took_no_approach_can_neither_keep_nor_leave_one(then: str) -> None:
    bad = {"outcomes": {"none": Outcome("Badly.", good=False)}}
    first = made(1, "none", stimuli=bad)
    after = made(2, then, outcome_of=first.id, stimuli={"sequel_of": first.scenario_id})
    assert absent([first, after], "learning_rate")


def test_an_outcome_that_was_not_shown_teaches_nothing() -> None:
    first = made(1, "a", stimuli={"outcomes": TURNED_OUT})
    untold = made(2, "b", stimuli={"sequel_of": first.scenario_id})
    assert absent([first, untold], "learning_rate")


def test_both_members_of_a_pair_are_compared_once() -> None:
    rounds = [made(n, o, stimuli={"pair": p}) for n, (o, p) in enumerate(["ap", "ap", "bp", "aq"])]
    found = numbers(rounds, "name_bias_signal")
    assert (found["n"], found["differed"]) == (1, 0)
    rounds.append(made(9, "b", stimuli={"pair": "q"}))
    found = numbers(rounds, "name_bias_signal")
    assert (found["n"], found["differed"]) == (2, 1)


def test_a_difference_that_occasions_make_is_not_laid_to_a_name() -> None:
    pairs = [
        made(2 * n + m, o, stimuli={"pair": f"p{n}"}) for n in range(6) for m, o in enumerate("ab")
    ]
    steady = [decision(100 + n, [option(0), option(1)], 0) for n in range(9)]
    shaky = [decision(100 + n, [option(0), option(1)], n % 2) for n in range(9)]
    biased = numbers([*pairs, *steady], "name_bias_signal")["bias"]
    assert biased == pytest.approx(7 / 8 - 1 / 10)
    assert numbers([*pairs, *shaky], "name_bias_signal")["bias"] == 0


def test_reasons_match_where_they_name_what_the_choice_serves() -> None:
    rounds = [
        made(1, "a", rationale=FAIR),
        made(2, "b", rationale=FAIR),
        made(3, "b", rationale=CHEAP),
        made(4, "none", rationale=CHEAP),
        made(5, "a", rationale="Hm."),
    ]
    assert numbers(rounds, "authenticity") == {"n": 3, "matches": 2, "matched": 3 / 5}
    attention = numbers(rounds, "attention_distribution")
    assert attention["n"] == 4
    assert attention["shares"] == {"fairness": 3 / 6, "thrift": 3 / 6}


def test_whoever_names_everything_at_stake_has_given_no_reason_for_a_choice() -> None:
    rounds = [made(n, "ab"[n % 2], rationale=f"{FAIR} {CHEAP}") for n in range(8)]
    assert absent(rounds, "authenticity")
    assert numbers(rounds, "attention_distribution")["n"] == 8


def test_a_rationale_that_no_list_recognises_is_not_counted() -> None:
    rounds = [made(1, "a", rationale=FAIR), made(2, "a", rationale="Hm."), made(3, "a")]
    found = numbers(rounds, "reasoning_style_distribution")
    assert found["n"] == 1
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert max(found["shares"], key=found["shares"].__getitem__) == "principled"


def test_what_a_rationale_says_is_in_no_document() -> None:
    profile = build([made(1, "a", rationale=f"{FAIR} The password is canary.")])
    assert "canary" not in str(profile.documents)
