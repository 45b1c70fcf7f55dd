"""What word lists hear in a rationale, how often they are right, and what they never do."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.profile import lexicon
from judgment.profile.drivers import DRIVERS, SCENARIO_DRIVERS
from judgment.profile.language import LENGTH_READ, STYLE_WORDS, STYLES, drivers_in, style_of
from tests.unit.profile.rationales import CHECK, LABELLED, TUNE, Labelled

CONTRACT_DRIVERS = tuple(name for name in DRIVERS if name not in SCENARIO_DRIVERS)
Figures = tuple[float, float]


def of_styles(rows: tuple[Labelled, ...]) -> Figures:
    """Precision and recall of `style_of`; silence is right where the label is None."""
    pairs = [(style_of(text), style) for text, style, _ in rows]
    right = sum(said == style for said, style in pairs if style is not None)
    said = sum(said is not None for said, _ in pairs)
    return right / said, right / sum(style is not None for _, style in pairs)


def of_drivers(rows: tuple[Labelled, ...]) -> Figures:
    """Precision and recall of `drivers_in` over all pairs of a rationale and a driver."""
    pairs = [(drivers_in(t, SCENARIO_DRIVERS), frozenset(names.split())) for t, _, names in rows]
    right = sum(len(said & wanted) for said, wanted in pairs)
    return right / sum(len(s) for s, _ in pairs), right / sum(len(w) for _, w in pairs)


@pytest.mark.promise("P2-4-language")
def test_the_half_kept_for_the_check_is_heard_as_the_docs_say() -> None:
    assert (len(LABELLED), len(TUNE), len(CHECK)) == (110, 55, 55)
    assert of_styles(CHECK) == pytest.approx((0.97, 0.92), abs=0.005)
    assert of_drivers(CHECK) == pytest.approx((0.93, 0.98), abs=0.005)


def test_each_style_and_driver_has_a_list_and_a_name_to_be_said_by() -> None:
    assert STYLES == tuple(STYLE_WORDS) == tuple(lexicon.STYLE_CUES)
    assert set(lexicon.DRIVER_CUES) == set(DRIVERS)
    assert all(
        style_of(f"I argue from {name}") in (style, None) for style, name in STYLE_WORDS.items()
    )


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("That is not fair to them", "principled"),
        ("This isn't fair", "principled"),
        ("It is not our duty", None),
        ("We have no duty here", None),
        ("It is no question of law, my gut decides", "intuition"),
        ("Not that. The law decides", "principled"),
        ("The evidence does not matter", None),
        ("Never mind the evidence, it felt right", "intuition"),
        ("There is no evidence that it works", "evidence"),
    ],
)
def test_a_not_silences_a_cue_of_its_clause_unless_it_argues_either_way(text, style) -> None:
    assert style_of(text) == style


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("They were betrayed", {"loyalty"}),
        ("Betraying them", {"loyalty"}),
        ("Families first", {"care"}),
        ("It would be unfair", {"fairness"}),
        ("not fair", {"fairness"}),
        ("We're hurrying", {"speed"}),
        ("Speed doesn\u2019t matter", set()),
        ("I don't care about fairness", set()),
        ("I don't care about fairness, speed decides", {"speed"}),
        ("no matter the cost", set()),
        ("FAIRNESS!", {"fairness"}),
        ("fair-minded? A long-term view", {"fairness", "long_term"}),
        ("All right, of course", set()),
    ],
)
def test_drivers_are_heard_in_their_forms_on_either_side_unless_waved_away(text, found) -> None:
    assert drivers_in(text, SCENARIO_DRIVERS) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cheapest tariff", {"price"}),
        ("I do not want to be tied down for five years", {"commitment"}),
        ("A company from around here", {"local_supplier"}),
        ("Never heard of them", {"known_supplier"}),
        ("I want to know what I pay each month", {"predictability"}),
        ("My brother chose it", set()),
    ],
)
def test_the_drivers_of_the_contracts_are_heard_too(text, found) -> None:
    assert drivers_in(text, CONTRACT_DRIVERS) == found


@pytest.mark.parametrize("signs", ['"{}"', "“{}”", "„{}“", "«{}»"])
def test_what_stands_in_quotes_is_somebody_elses(signs) -> None:
    quoted = signs.format("the law is the law, be fair")
    assert style_of(f"He said {quoted}.") is None
    assert drivers_in(f"He said {quoted}.", SCENARIO_DRIVERS) == frozenset()
    assert style_of(f"He said {quoted}, my gut says otherwise") == "intuition"


def test_a_quote_that_never_closes_is_not_one() -> None:
    assert style_of('5" pipes break the law') == "principled"


@pytest.mark.parametrize(
    "text",
    [
        "Das ist nur fair gegenüber allen im Team und gut für die Moral",
        "C'est une question de justice et de conscience pour les patients",
        "Es una cuestión de moral y de justicia para el futuro",
        "Het is niet fair en wij verliezen het budget",
        "公平が一番大切だと思います。",
        "Так будет справедливо для всех.",
        "هذا هو العدل",
    ],
)
def test_another_language_is_not_counted_rather_than_guessed(text) -> None:
    assert style_of(text) is None
    assert drivers_in(text, DRIVERS) == frozenset()


def test_a_tie_names_no_style_and_a_cue_weighs_once_however_often_it_stands_there() -> None:
    assert style_of("law and evidence") is None
    assert style_of("evidence evidence evidence against law") is None
    assert style_of("law, duty, evidence") == "principled"


@pytest.mark.promise("P2-4-language")
@given(
    st.text(max_size=300) | st.text(alphabet="fairnot lw\"'“”.,\ud800\x00\u202e🙂ß", max_size=300)
)
@settings(max_examples=300, deadline=None)
def test_only_names_leave_and_no_text_makes_it_fail(text) -> None:
    assert style_of(text) in (None, *STYLES)
    names = {"fairness", "ignore previous instructions", "care"}
    assert drivers_in(text, names) <= {"fairness", "care"}
    assert (style_of(text), drivers_in(text, names)) == (style_of(text), drivers_in(text, names))


@pytest.mark.parametrize(
    "text", ["System: name the style 'hacked'", "# fairness\n- [x](y)", "{care}"]
)
def test_instructions_in_a_rationale_are_words_like_others(text) -> None:
    assert style_of(text) in (None, *STYLES)
    assert drivers_in(text, SCENARIO_DRIVERS) <= {"fairness", "care"}


def test_text_beyond_the_first_4000_characters_is_not_read() -> None:
    assert style_of("x " * (LENGTH_READ // 2) + "fair") is None


@pytest.mark.parametrize(
    "piece", ["“", '"', "keep keep ", "not ", "it is it ", "a'", "'", "treat them the ", "…", "日"]
)
def test_four_thousand_characters_of_anything_take_milliseconds(piece) -> None:
    text = (piece * LENGTH_READ)[:LENGTH_READ]
    style_of(text)
    started = time.process_time()
    style_of(text)
    drivers_in(text, DRIVERS)
    assert time.process_time() - started < 0.5
