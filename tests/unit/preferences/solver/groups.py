"""Groups to decide for: a few lines by hand, and any valid one by Hypothesis.

Names, keys and numbers come from small pools on purpose: ties, shared keys, silence and opinions
that cancel out are what a ranking is made of here, not its rare accidents.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from judgment.preferences.solver import Constraint, Opinion, Option, Participant

POLICIES = ("weighted-sum", "hard-veto", "maximin", "nash", "least-misery")
KEYS = ("thai", "bbq", "vegan", "near", "quiet", "café")
SUBJECTS = ("price", "minutes")
NUMBERS = (-1.0, -0.8, -0.5, -0.3, -0.1, 0.0, 0.1, 0.2, 0.3, 0.7, 1.0)


def option(identity: str, *keys: str, title: str = "", **attributes: float) -> Option:
    """An option with these keys and attributes."""
    return Option(identity, keys, title, attributes)


def person(identity: str, **weights: float | Opinion) -> Participant:
    """A participant with full confidence in each weight, unless an opinion says otherwise."""
    opinions = {
        key: one if isinstance(one, Opinion) else Opinion(one) for key, one in weights.items()
    }
    return Participant(identity, opinions)


def ranks(solution: Any) -> dict[str, int]:
    """Rank by option."""
    return {one.option: one.rank for one in solution.ranking}


def scores(solution: Any) -> dict[str, float]:
    """Score by option."""
    return {one.option: one.score for one in solution.ranking}


def weights() -> st.SearchStrategy[float]:
    """Round numbers, which tie and cancel out, and any others."""
    return st.sampled_from(NUMBERS) | st.floats(-1, 1)


def opinions() -> st.SearchStrategy[Opinion]:
    """Any opinion."""
    return st.builds(
        Opinion,
        weights(),
        st.sampled_from((0.0, 0.5, 1.0)) | st.floats(0, 1),
        st.booleans(),
    )


def options() -> st.SearchStrategy[list[Option]]:
    """One to six."""
    amounts = st.dictionaries(st.sampled_from(SUBJECTS), st.sampled_from((5.0, 10.0, 20.0)))
    one = st.builds(
        Option,
        st.sampled_from("abcdef"),
        st.lists(st.sampled_from(KEYS), unique=True).map(tuple),
        st.sampled_from(("", "A title\nof two lines")),
        amounts,
    )
    return st.lists(one, min_size=1, max_size=6, unique_by=lambda each: each.id)


def participants() -> st.SearchStrategy[list[Participant]]:
    """One to five, some without an opinion."""
    one = st.builds(
        Participant,
        st.sampled_from(("ann", "bob", "cleo", "dan", "eve")),
        st.dictionaries(st.sampled_from((*KEYS, "unasked")), opinions()),
    )
    return st.lists(one, min_size=1, max_size=5, unique_by=lambda each: each.id)


def constraints() -> st.SearchStrategy[list[Constraint]]:
    """Up to two of the group's own."""
    of_keys = st.builds(
        Constraint, st.sampled_from(("requires", "excludes")), st.sampled_from(KEYS)
    )
    of_numbers = st.builds(
        Constraint,
        st.sampled_from(("at_most", "at_least")),
        st.sampled_from(SUBJECTS),
        st.sampled_from((5.0, 10.0, 15.0)),
    )
    return st.lists(of_keys | of_numbers, max_size=2, unique_by=lambda each: each.order)


def settings_of_a_solve() -> st.SearchStrategy[dict[str, Any]]:
    """Policy, normalisation, constraints, threshold and forced order, as `solve` takes them."""

    def fitting(drawn: dict[str, Any]) -> dict[str, Any]:
        return {**drawn, "normalise": "mean"} if drawn["policy"] == "nash" else drawn

    return st.fixed_dictionaries(
        {
            "policy": st.sampled_from(POLICIES),
            "normalise": st.sampled_from(("mean", "none")),
            "constraints": constraints(),
            "veto_below": st.sampled_from((-0.9, -0.5, -0.3)),
            "forced_order": st.booleans(),
        }
    ).map(fitting)
