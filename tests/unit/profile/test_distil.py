"""Each sentence is its numbers, and the numbers are the person's own."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import given, settings

from judgment.contract.profile import CATEGORIES, AgentProfile
from judgment.profile import observe
from judgment.profile.build import build
from judgment.profile.composer import composed
from judgment.profile.distil import distil
from tests.unit.profile.decisions import histories
from tests.unit.profile.real_people import real_people
from tests.unit.profile.recomputation import sentences

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile

OWNER = UUID(int=1)
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def served(profile: PlayerDecisionProfile) -> AgentProfile:
    return distil(composed(profile, NOW), OWNER, 0.0)


def lines_of(profile: AgentProfile) -> list[str]:
    """The sentences about the owner in the block: its list items."""
    lines = (profile.agent_context_block or "").splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def is_true_of(lines: list[str], truth: list[str]) -> bool:
    return sorted(lines) == sorted(truth)


@pytest.fixture(scope="module")
def answers() -> list[AgentProfile]:
    return [served(build(person.decisions)) for person in real_people()]


@pytest.fixture(scope="module")
def blocks(answers) -> list[list[str]]:
    return [lines_of(answer) for answer in answers]


@pytest.fixture(scope="module")
def truths() -> list[list[str]]:
    return [sentences(person.decisions) for person in real_people()]


@pytest.mark.promise("P1-4-distil", "P1-5", "000-3.2-distil")
def test_every_sentence_about_every_real_person_can_be_made_again_from_their_decisions(
    blocks, truths
) -> None:
    assert len(blocks) == 361
    wrong = [i for i, (b, t) in enumerate(zip(blocks, truths, strict=True)) if not is_true_of(b, t)]
    assert wrong == []


@pytest.mark.promise("P1-4-distil")
def test_one_sentence_swapped_between_two_people_is_caught(blocks, truths) -> None:
    swaps = 0
    for (mine, other), truth in zip(pairwise(blocks), truths, strict=False):
        for place, line in enumerate(mine):
            for foreign in set(other) - set(mine):
                swapped = [*mine[:place], foreign, *mine[place + 1 :]]
                assert not is_true_of(swapped, truth), (line, foreign)
                swaps += 1
    assert swaps > 5_000


@pytest.mark.promise("P1-4-distil")
def test_a_changed_number_is_caught(blocks, truths) -> None:
    for mine, truth in zip(blocks[:40], truths, strict=False):
        for place, line in enumerate(mine):
            digits = [i for i, sign in enumerate(line) if sign.isdigit()]
            at = digits[-1] if digits else None
            if at is None:
                continue
            forged = line[:at] + str((int(line[at]) + 1) % 10) + line[at + 1 :]
            assert not is_true_of([*mine[:place], forged, *mine[place + 1 :]], truth)


@pytest.mark.promise("P1-4-distil")
@given(histories())
@settings(max_examples=50, deadline=None)
def test_a_text_is_its_template_filled_with_the_numbers_kept_beside_it(history) -> None:
    profile = build(history)
    answer = served(profile)
    made = list(observe.observe(profile))
    assert all(o.text == o.template.format_map(o.to_json()["numbers"]) for o in made)
    assert [
        f"- {o.text}" for o in made if f"- {o.text}" not in (answer.agent_context_block or "")
    ] == []
    known = {o.about: o.text for o in made}
    for signal in answer.signals:
        if signal.state != "sparse":
            assert signal.one_line == known[f"signal:{signal.signal}"]


@pytest.mark.promise("R-21", "000-3.1")
@given(histories())
@settings(max_examples=50, deadline=None)
def test_what_has_no_evidence_is_neutral_absent_or_sparse(history) -> None:
    answer = served(build(history))
    decided = {d.category for d in history if d.retest_of is None}
    assert {t.category for t in answer.category_tendencies} == decided
    for tendency in answer.category_tendencies:
        if tendency.games_in_category < 4:
            assert tendency.primary_driver == "mixed"
            assert (tendency.risk_tolerance, tendency.decision_speed) == ("medium", "balanced")
            assert tendency.recent_trend is None
    assert len(answer.signals) == 12
    for signal in answer.signals:
        assert signal.state == "sparse" or "Not known yet" not in signal.one_line
    missing = set(CATEGORIES) - decided
    assert not history or all(
        c.replace("-", " ").replace("values culture", "values and culture")
        in (answer.agent_context_block or "")
        for c in missing
    )


def test_drivers_are_named_in_the_direction_in_which_they_pull(answers) -> None:
    names = set()
    for answer in answers:
        (tendency,) = answer.category_tendencies
        names |= {tendency.primary_driver, *tendency.secondary_drivers}
    assert {"commitment", "flexibility", "predictability", "variable_rates", "price"} <= names
