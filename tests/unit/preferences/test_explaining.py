"""Why a key holds what it holds: the reasons, records that share an id, many candidates, diffs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.preferences.compiling import compile_signals
from judgment.preferences.explaining import VERDICTS, diff, why
from judgment.preferences.signals import order_key
from tests.unit.preferences.statements import KEYS, NOW, days_ago, kept, lives, said

if TYPE_CHECKING:
    from judgment.preferences.model import Signal

pytestmark = pytest.mark.promise("P3-core-why")
KEY = KEYS[0]


def told(signals: list[Signal], platform: str | None = None, key: str = KEY) -> list[Any]:
    """(value, verdict, value of the one that it lost against) of each candidate, in order."""
    values = {signal.id: signal.value for signal in signals}
    return [
        (one.signal.value, one.verdict, None if one.by is None else values[one.by])
        for one in why(signals, key, NOW, platform).candidates
    ]


def a_life() -> list[Signal]:
    """One statement for each verdict there is."""
    gone = said(value="gone", observed_at=days_ago(50))
    return kept(
        [
            gone,
            said(value="instead", observed_at=days_ago(40), supersedes=gone.id),
            said(value="shared", observed_at=days_ago(30)),
            said(value="own", observed_at=days_ago(20), scope="platform:codex"),
            said(value="faint", strength=0.01, observed_at=days_ago(10), scope="platform:hermes"),
        ]
    )


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        (
            None,
            [("shared", "wins", None), ("instead", "older", "shared"),
             ("gone", "superseded", "instead"), ("faint", "another platform's", None),
             ("own", "another platform's", None)],
        ),
        (
            "codex",
            [("own", "wins", None), ("shared", "beneath the platform's", "own"),
             ("instead", "older", "shared"), ("gone", "superseded", "instead"),
             ("faint", "another platform's", None)],
        ),
        (
            "hermes",
            [("shared", "wins", None), ("faint", "below the floor", "shared"),
             ("instead", "older", "shared"), ("gone", "superseded", "instead"),
             ("own", "another platform's", None)],
        ),
    ],
)  # fmt: skip
def test_each_statement_has_its_reason_and_what_it_lost_against(
    platform: str | None, expected: list[Any]
) -> None:
    assert told(a_life(), platform) == expected
    assert told(a_life()[::-1], platform) == expected


@given(lives(), st.sampled_from((None, "codex")), st.randoms(use_true_random=False))
def test_candidates_stand_by_verdict_and_then_the_latest_first(
    life: list[Signal], platform: str | None, chance: Any
) -> None:
    shuffled = [*life, *life[:3]]
    chance.shuffle(shuffled)
    for key in KEYS:
        found = why(shuffled, key, NOW, platform)
        assert found == why(life, key, NOW, platform)
        places = [
            (VERDICTS.index(one.verdict), order_key(one.signal, NOW)) for one in found.candidates
        ]
        assert places == sorted(
            sorted(places, key=lambda p: p[1], reverse=True), key=lambda p: p[0]
        )


def test_of_records_that_share_an_id_the_first_kept_speaks_as_in_the_document() -> None:
    """Also where they are about different keys, or one of them is consent."""
    first, second = kept([said(KEY, "first"), said(KEYS[1], "second")])
    second = replace(second, id=first.id)
    assert told([second, first]) == [("first", "wins", None)]
    assert why([second, first], KEYS[1], NOW).candidates == ()
    assert list(compile_signals([second, first], NOW).documents[None]["keys"]) == [KEY]

    consent = replace(first, kind="consent")
    assert why([second, consent], KEYS[1], NOW).candidates == ()
    assert compile_signals([second, consent], NOW).documents[None]["keys"] == {}


def test_a_superseded_record_that_shares_its_id_is_told_as_it_was_first_kept() -> None:
    early, late = kept([said(value="early"), said(value="late")])
    late = replace(late, id=early.id)
    after = replace(said(value="after", supersedes=early.id), position=3, recorded_at=NOW)
    for order in ([early, late, after], [after, late, early]):
        candidates = why(order, KEY, NOW).candidates
        assert [one.signal.value for one in candidates] == ["after", "early"]


def test_nothing_said_and_nothing_left_have_no_winner() -> None:
    assert why([], KEY, NOW).winner is None
    own = kept([said(scope="platform:codex")])
    assert why(own, KEY, NOW).winner is None
    assert why(own, KEY, NOW, "codex").winner == own[0].id


def test_ten_thousand_candidates_are_all_told_in_order() -> None:
    life = kept(
        [
            said(value=n, observed_at=(NOW - timedelta(seconds=20_000 - n)).isoformat())
            for n in range(10_000)
        ]
    )
    chained = [
        replace(one, supersedes=life[n - 1].id) if n % 2 else one for n, one in enumerate(life)
    ]
    found = why(chained[::-1], KEY, NOW)
    assert len(found.candidates) == 10_000
    assert found.winner == chained[-1].id
    assert [one.signal.value for one in found.candidates[:3]] == [9999, 9997, 9995]
    assert found.candidates[-1].signal.value == 0


def test_a_diff_names_what_was_said_anew_and_not_what_time_did() -> None:
    life = kept([said(value=1, half_life_days=90), said(KEYS[1], "tabs")])
    before = compile_signals(life, NOW).documents[None]
    later = compile_signals(life, NOW + timedelta(days=30)).documents[None]
    assert before["keys"][KEY]["weight"] != later["keys"][KEY]["weight"]
    assert diff(before, later) == {"added": {}, "removed": {}, "changed": {}, "same": 2}

    anew = replace(said(value=1.0, half_life_days=90), position=9, recorded_at=NOW)
    after = compile_signals([life[0], anew, replace(life[1], key="editor.tabs")], NOW)
    found = diff(before, after.documents[None])
    assert (list(found["added"]), list(found["removed"])) == (["editor.tabs"], [KEYS[1]])
    assert found["changed"][KEY]["fields"] == ["n_signals", "sources", "value"]
    assert found["same"] == 0


def test_a_diff_sees_what_changes_beneath_a_platforms_entry() -> None:
    own = said(value="own", scope="platform:codex", half_life_days=None)
    shared = said(value=True, half_life_days=90)
    one = compile_signals(kept([own, shared]), NOW).documents["codex"]
    same = compile_signals(kept([own, shared]), NOW + timedelta(days=400)).documents["codex"]
    assert "stale" in same["keys"][KEY]
    assert diff(one, same)["changed"] == {}
    other = compile_signals(kept([own, said(value=1, half_life_days=90)]), NOW).documents["codex"]
    assert diff(one, other)["changed"][KEY]["fields"] == ["beneath"]
    alone = compile_signals(kept([own]), NOW).documents["codex"]
    assert diff(one, alone)["changed"][KEY]["fields"] == ["beneath"]
    assert diff(alone, one)["changed"][KEY]["fields"] == ["beneath"]
