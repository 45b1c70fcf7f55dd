"""The read side: cold start, kept answers, bounded recent decisions, explanations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from judgment.contract.profile import cold_start
from judgment.profile.service import ProfileService
from judgment.profile.shapes import StoredProfile

OWNER = UUID(int=9)


class Rows:
    """A store with one answer per owner."""

    def __init__(self) -> None:
        self.stored: dict[UUID, StoredProfile] = {}
        self.recent: list[Mapping[str, Any]] = []

    def stored_profile(self, tx: None, user_id: UUID) -> StoredProfile:
        return self.stored.get(user_id, StoredProfile(None, None, None))

    def recent_decisions(self, tx: None, user_id: UUID, limit: int) -> list[Mapping[str, Any]]:
        return self.recent[:limit]


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def service(rows: Rows) -> ProfileService:
    return ProfileService(rows)


@pytest.mark.promise("000-3.2-cold")
def test_without_a_row_the_cold_start_form_is_answered(service) -> None:
    assert service.profile(None, OWNER) == cold_start(OWNER, 0.0)


def test_a_changed_row_is_never_answered_from_memory(service, rows) -> None:
    for games in (1, 2, 1):
        rows.stored[OWNER] = StoredProfile(json.dumps({"games_analyzed": games}), "5", "judgment")
        assert service.profile(None, OWNER).games_played == games
    rows.stored[OWNER] = StoredProfile(json.dumps({"games_analyzed": 1}), "6", "judgment")
    assert service.profile(None, OWNER).sync_score == 6


def test_equal_rows_of_two_owners_are_answered_with_their_own_ids(service, rows) -> None:
    owners = [uuid4() for _ in range(200)]
    for owner in owners:
        rows.stored[owner] = StoredProfile('{"games_analyzed": 1}', "5", None)
    assert [service.profile(None, owner).user_id for owner in owners] == owners
    assert [service.profile(None, owner).user_id for owner in owners] == owners


@pytest.mark.promise("R-22")
def test_an_explanation_adds_up_or_says_that_the_score_is_kept(service, rows) -> None:
    row = json.dumps({"games_analyzed": 12, "category_patterns": {"governance": {"decisions": 12}}})
    rows.stored[OWNER] = StoredProfile(row, "7.5", "judgment")
    ours = service.explanation(None, OWNER)
    assert (ours.sync_score.score, ours.sync_score.kept) == (7.5, False)
    assert ours.model_confidence.score == service.profile(None, OWNER).model_confidence
    rows.stored[OWNER] = StoredProfile(row, "61", None)
    assert service.explanation(None, OWNER).sync_score.kept
    assert len(ours.signals) == 12


def test_a_cold_owner_is_explained_by_terms_that_are_all_zero(service) -> None:
    explained = service.explanation(None, OWNER)
    assert (explained.sync_score.score, explained.sync_score.kept) == (0, False)
    assert all(s.supporting_decisions == 0 for s in explained.signals)


@pytest.mark.promise("P1-refuse-rows")
def test_recent_decisions_are_cut_to_labels_that_fit(service, rows) -> None:
    rows.recent = [
        {
            "scenario_id": uuid4(),
            "scenario_title": "A\ntitle " * 9_000,
            "category": "governance",
            "theme": "",
            "chosen_label": "\u202elabel\x07",
            "rationale": "because " * 90_000,
            "recorded_at": datetime(2026, 1, 1, tzinfo=UTC),
        }
    ] * 3
    found = service.recent_decisions(None, OWNER, 2).decisions
    assert len(found) == 2
    assert len(found[0].scenario_title) <= 160
    assert "\n" not in found[0].scenario_title
    assert (found[0].chosen_label, found[0].theme) == ("label", "unknown")
    assert len(found[0].rationale or "") <= 4_000
