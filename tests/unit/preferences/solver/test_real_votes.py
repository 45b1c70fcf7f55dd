"""Decisions that real people made, against figures that were computed elsewhere."""

from __future__ import annotations

from collections import Counter

import pytest

from judgment.preferences.solver import ballots_in, count, solve, verify, words
from tests.unit.preferences.solver.real_votes import (
    CONVERSATIONS,
    camps,
    real_file,
    statements,
    voters,
    votes,
)

pytestmark = pytest.mark.promise("P3-solver-ballots")

OPTIONS = "1234"


def test_the_project_leaders_election_of_2002_is_won_by_the_third_option() -> None:
    ballots = ballots_in(real_file("debian2002.soi").read_text())
    assert sum(one.count for one in ballots) == 475
    found = count(ballots, OPTIONS)
    against = found.trace["votes"]
    assert found.winner == "3"
    assert [(against["3"][one], against[one]["3"]) for one in "124"] == [
        (291, 180),
        (327, 140),
        (444, 18),
    ]
    assert [one.candidate for one in found.ranking] == ["3", "1", "2", "4"]
    assert verify(found.trace) == []
    assert "3 over 1: votes 291 to 180" in words(found.trace)
    assert "3 is preferred to each other by a majority" in words(found.trace)


def test_its_points_are_those_that_were_published() -> None:
    ballots = ballots_in(real_file("debian2002.soi").read_text())
    found = count(ballots, OPTIONS, method="borda")
    assert [(one.candidate, one.points) for one in found.ranking] == [
        ("3", 1074.5),
        ("1", 847.0),
        ("2", 767.0),
        ("4", 161.5),
    ]
    assert verify(found.trace) == []


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_a_conversations_statements_are_ranked_by_agreement_with_reasons(conversation: str) -> None:
    cast, plans = votes(conversation), statements(conversation)
    found = solve(plans, voters(cast))
    balance, heard = Counter[str](), Counter[str]()
    for (_, statement), vote in cast.items():
        balance[f"s{statement}"] += vote
        heard[f"s{statement}"] += 1
    assert len(found.ranking) == len(plans)
    assert {one.option: one.score for one in found.ranking} == {
        one.id: float(balance[one.id]) for one in plans
    }
    assert all(one.heard == heard[one.option] for one in found.ranking)
    ordered = [one.score for one in found.ranking]
    assert ordered == sorted(ordered, reverse=True)
    assert verify(found.trace) == []
    lines = words(found.trace, detail=False)
    assert all(line.isprintable() for line in lines)
    first, second = found.ranking[:2]
    assert (
        f"{first.option} before {second.option}: total {first.score:+.6f} over {second.score:+.6f}"
        in lines
    )
    silent = first.of - first.heard
    assert any(
        line.startswith(f"{first.option}: heard {first.heard} of {first.of}, silent")
        and (silent <= 10 or line.endswith(f"and {silent - 10} more"))
        for line in lines
    )


@pytest.mark.promise("P3-solver-fair")
@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_between_camps_maximin_finds_what_no_camp_minds(conversation: str) -> None:
    """The most voices may be all of one camp; the worst-off camp has the word here."""
    plans, parties = statements(conversation), camps(conversation, votes(conversation))
    assert len(parties) >= 2
    fair, most = (solve(plans, parties, policy=one) for one in ("maximin", "weighted-sum"))
    least = {one: min(result["satisfaction"]) for one, result in fair.trace["options"].items()}
    first = fair.ranking[0].option
    assert least[first] == max(least.values()) > 0
    assert least[first] >= least[most.ranking[0].option]
    assert verify(fair.trace) == []
    assert any(line.startswith(f"{first} before ") for line in words(fair.trace))


def test_without_the_data_a_test_is_skipped_with_the_places_looked_in(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGMENT_DATA", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="JUDGMENT_DATA"):
        real_file("debian2002.soi")
