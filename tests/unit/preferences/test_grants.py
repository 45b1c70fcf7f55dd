"""What a history of consent opens: its rule said a second time, and that nothing else opens."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest
from judgment.preferences.consent import (
    Event,
    checked_audience,
    event_from,
    from_stored,
    stored,
)
from judgment.preferences.grants import Grants, fold
from judgment.preferences.keys import checked_glob, glob_matches
from tests.unit.preferences.histories import (
    AUDIENCES,
    NOW,
    PURPOSES,
    broken_steps,
    garbage,
    globs,
    histories,
    keys,
    moments,
    steps,
)

pytestmark = pytest.mark.promise("P3-consent")
LEVEL = {"read": 0, "solve": 1}
EVERY_KEY = [
    ".".join(parts)
    for parts in (
        ("dining",), ("Dining",), ("dining", "thai"), ("Dining", "thai"), ("diningsecret", "x"),
        ("dining", "thai", "x"), ("x",), ("x", "dining"), ("caf\u00e9", "x"), ("x", "x", "x", "x"),
    )
]  # fmt: skip


def opened(grants: Grants, now: datetime = NOW) -> set[tuple[str, str, str]]:
    """All that is open, over a small world of keys, audiences and purposes."""
    return {
        (key, audience, purpose)
        for key in EVERY_KEY
        for audience in (*AUDIENCES, "*", "self", "")
        for purpose in (*PURPOSES, "write", "")
        if grants.open(key, audience, purpose, now)
    }


def matches(glob: str, key: str) -> bool:
    """A glob said as a regular expression: another way than the product's."""
    parts = [r"[^.]+" if part == "*" else re.escape(part) for part in glob.split(".")]
    if glob.endswith("*"):
        parts[-1] = r"[^.]+(?:\.[^.]+)*"
    return re.fullmatch(r"\.".join(parts), key) is not None


def is_open(
    history: list[dict[str, Any]], key: str, audience: str, purpose: str, now: datetime
) -> bool:
    """The rule of consent, quantifier by quantifier, over steps that are well formed."""

    def live(step: dict[str, Any]) -> bool:
        return step["expires"] is None or now < datetime.fromisoformat(step["expires"])

    def about(step: dict[str, Any]) -> bool:
        return matches(step["key_glob"], key) and step["audience"] in (audience, "*")

    def lifted(place: int) -> bool:
        same = ("key_glob", "audience")
        return any(
            later["effect"] == "lift" and all(later[n] == history[place][n] for n in same)
            for later in history[place + 1 :]
        )

    def closes(step: dict[str, Any], effect: str) -> bool:
        return step["effect"] == effect and about(step) and LEVEL[step["level"]] <= LEVEL[purpose]

    if any(closes(s, "deny") and live(s) and not lifted(n) for n, s in enumerate(history)):
        return False
    return any(
        step["effect"] == "allow"
        and step["audience"] == audience
        and matches(step["key_glob"], key)
        and LEVEL[step["level"]] >= LEVEL[purpose]
        and live(step)
        and not any(closes(later, "revoke") for later in history[place + 1 :])
        for place, step in enumerate(history)
    )


@given(st.lists(steps(), max_size=12), keys, st.sampled_from(AUDIENCES), moments)
def test_a_key_is_open_exactly_when_the_rule_says_so(
    history: list[dict[str, Any]], key: str, audience: str, now: datetime
) -> None:
    grants = fold(history)
    for purpose in PURPOSES:
        assert grants.open(key, audience, purpose, now) == is_open(
            history, key, audience, purpose, now
        )


@given(histories, steps(("revoke", "deny")), moments)
def test_a_revoke_or_deny_never_reveals_more_to_anybody(
    history: list[object], step: dict[str, Any], now: datetime
) -> None:
    assert opened(fold([*history, step]), now) <= opened(fold(history), now)


@given(histories, broken_steps(), moments)
def test_only_an_allow_or_a_lift_opens_anything(
    history: list[object], step: object, now: datetime
) -> None:
    """Also when a step is broken: then not even those do."""
    read = from_stored(step)
    if read is None or read.effect not in ("allow", "lift"):
        assert opened(fold([*history, step]), now) <= opened(fold(history), now)


FIELDS = ("effect", "key_glob", "audience", "level", "expires")


@given(
    st.lists(steps(), min_size=1, max_size=8),
    st.integers(0, 7),
    st.sampled_from((*FIELDS, "another")),
    garbage,
    moments,
)
def test_a_step_that_cannot_be_read_closes_no_less_and_opens_no_more(
    history: list[dict[str, Any]], place: int, field: str, value: object, now: datetime
) -> None:
    place %= len(history)
    if field == "expires" and value is None:
        return  # which can be read
    if field in CHECKS and _is_accepted(CHECKS[field], value):
        return
    before, step, after = history[:place], history[place], history[place + 1 :]
    found = opened(fold([*before, {**step, field: value}, *after]), now)
    assert found <= opened(fold([*before, *after]), now)
    if step["effect"] in ("deny", "revoke"):
        assert found <= opened(fold(history), now)


CHECKS = {"key_glob": checked_glob, "audience": checked_audience}


def _is_accepted(check: Callable[[object], str], value: object) -> bool:
    try:
        check(value)
    except InvalidRequest:
        return False
    return True


@given(histories, moments)
def test_time_closes_what_expires_and_opens_what_a_deny_kept_closed(
    history: list[object], now: datetime
) -> None:
    later = now + timedelta(days=1)
    grants = fold(history)
    gained = opened(grants, later) - opened(grants, now)
    denies = [e for e in grants.events if e.effect == "deny" and e.expires is not None]
    for key, audience, _ in gained:
        assert any(
            matches(e.key_glob, key) and e.audience in (audience, "*") and e.expires <= later
            for e in denies
        )


@given(histories, moments)
def test_what_is_shown_as_standing_is_what_is_open(history: list[object], now: datetime) -> None:
    grants = fold(history)
    view = grants.view(now)
    for key in EVERY_KEY:
        for audience in AUDIENCES:
            for purpose in PURPOSES:
                whole = any(_holds(g, key, audience, purpose) for g in view["grants"])
                left = any(
                    _holds(g, key, audience, purpose)
                    and not any(
                        matches(e["key_glob"], key) and LEVEL[e["level"]] <= LEVEL[purpose]
                        for e in g["except"]
                    )
                    for g in view["narrowed"]
                )
                assert grants.open(key, audience, purpose, now) == (whole or left)


def _holds(grant: dict[str, Any], key: str, audience: str, purpose: str) -> bool:
    return (
        grant["audience"] == audience
        and matches(grant["key_glob"], key)
        and LEVEL[grant["level"]] >= LEVEL[purpose]
    )


@given(histories, steps(), moments)
def test_a_step_that_changes_anything_says_what_it_touches(
    history: list[object], step: dict[str, Any], now: datetime
) -> None:
    grants, event = fold(history), from_stored(step)
    assert event is not None
    if step["effect"] != "allow" and opened(fold([*history, step]), now) != opened(grants, now):
        assert grants.touched(event, now)


@given(globs, keys)
def test_a_glob_matches_what_its_regular_expression_does(glob: str, key: str) -> None:
    assert glob_matches(glob, key) == matches(glob, key)
    allowed = fold([Event("allow", glob, "bob")])
    assert allowed.open(key, "bob", "read", NOW) == matches(glob, key)


@pytest.mark.promise("P3-defect-19")
def test_globs_are_case_exact_and_know_dots() -> None:
    grants = fold([Event("allow", "dining.*", "bob")])
    assert [key for key in EVERY_KEY if grants.open(key, "bob", "read", NOW)] == [
        "dining.thai",
        "dining.thai.x",
    ]
    assert fnmatch.fnmatchcase("diningsecret.x", "dining*")  # what a partial wildcard would match
    with pytest.raises(InvalidRequest):
        event_from({"effect": "allow", "key_glob": "dining*", "audience": "bob"}, NOW)


def test_a_key_in_another_normal_form_is_the_same_key() -> None:
    grants = fold([Event("allow", "*", "bob"), Event("deny", "caf\u00e9.*", "bob")])
    assert not grants.open("cafe\u0301.x", "bob", "read", NOW)


@pytest.mark.promise("P3-defect-07")
@pytest.mark.parametrize("level", ["admin", "", None, 1, ["read"], "READ"])
def test_an_unknown_level_denies(level: object) -> None:
    allow = {"effect": "allow", "key_glob": "*", "audience": "bob", "expires": None}
    assert fold([{**allow, "level": "read"}]).open("x", "bob", "read", NOW)
    assert not opened(fold([{**allow, "level": level}]))
    if level is not None:
        with pytest.raises(InvalidRequest, match="read or solve"):
            event_from({**allow, "level": level}, NOW)


@pytest.mark.promise("P3-defect-07")
@pytest.mark.parametrize("expires", ["tomorrow", "", 5, "2026-13-01T00:00:00Z", True, ["x"]])
def test_an_unreadable_expiry_is_refused_when_given_and_denies_when_stored(expires: object) -> None:
    allow = {"effect": "allow", "key_glob": "*", "audience": "bob", "level": "read"}
    with pytest.raises(InvalidRequest, match="expiry is a time"):
        event_from({**allow, "expires": expires}, NOW)
    assert not opened(fold([{**allow, "expires": expires}]))


def test_an_expiry_without_a_zone_is_utc_and_ends_at_its_moment() -> None:
    step = {"effect": "allow", "key_glob": "*", "audience": "bob", "expires": "2026-06-10T13:00:00"}
    grants = fold([event_from(step, NOW)])
    at = datetime(2026, 6, 10, 13, tzinfo=UTC)
    assert grants.open("x", "bob", "read", at - timedelta(microseconds=1))
    assert not grants.open("x", "bob", "read", at)


@pytest.mark.promise("P3-defect-08")
def test_a_revoke_narrower_than_the_grant_narrows_it() -> None:
    allow = Event("allow", "*", "bob", "solve", position=1)
    grants = fold([allow])
    revoke = event_from({"effect": "revoke", "key_glob": "dining.*", "audience": "bob"}, NOW)
    assert grants.touched(revoke, NOW) == (allow,)
    narrowed = fold([allow, revoke])
    assert not narrowed.open("dining.thai", "bob", "read", NOW)
    assert narrowed.open("x", "bob", "solve", NOW)
    assert [g["except"] for g in narrowed.view(NOW)["narrowed"]] == [
        [{"key_glob": "dining.*", "level": "read"}]
    ]


def test_a_revoke_of_solve_leaves_read() -> None:
    grants = fold([Event("allow", "*", "bob", "solve"), Event("revoke", "*", "bob", "solve")])
    assert [grants.open("x", "bob", purpose, NOW) for purpose in PURPOSES] == [True, False]
    assert [g["level"] for g in grants.view(NOW)["grants"]] == ["read"]


def test_an_allow_after_a_deny_stays_closed_until_the_deny_is_lifted() -> None:
    denied = [Event("deny", "x", "*"), Event("allow", "*", "bob")]
    assert not fold(denied).open("x", "bob", "read", NOW)
    assert not fold([*denied, Event("lift", "x", "bob")]).open("x", "bob", "read", NOW)
    assert fold([*denied, Event("lift", "x", "*")]).open("x", "bob", "read", NOW)
    assert not fold([Event("lift", "x", "*"), *denied]).open("x", "bob", "read", NOW)


def test_live_are_the_allows_that_open_and_the_denies_that_close() -> None:
    effects = ("allow", "revoke", "allow", "deny", "lift")
    history = [Event(e, "x", "bob", position=n) for n, e in enumerate(effects, 1)]
    assert fold(history).live(NOW) == {3}
    assert fold(history[:4]).live(NOW) == {4}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"effect": "grant"}, "effect is one of"),
        ({"audience": "*"}, "to everybody"),
        ({"audience": "self"}, "need no grant"),
        ({"audience": ""}, "audience is a name"),
        ({"audience": " bob"}, "blanks"),
        ({"audience": "bo\x1bb"}, "control"),
        ({"audience": "user:*"}, "everybody"),
        ({"audience": "b" * 101}, "at most 100"),
        ({"audience": None}, "audience is a name"),
        ({"key_glob": "**"}, "literal or exactly"),
        ({"key_glob": "a..b"}, "empty segment"),
        ({"key_glob": None}, "glob"),
        ({"expires": "2026-06-10T12:00:00Z"}, "passed already"),
        ({"effect": "revoke", "expires": "2027-01-01T00:00:00Z"}, "final"),
        ({"effect": "lift", "expires": "2027-01-01T00:00:00Z"}, "final"),
        ({"granted_by": "eve"}, "no field"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_in_plain_words(
    change: dict[str, Any], said: str
) -> None:
    step = {"effect": "allow", "key_glob": "dining.*", "audience": "bob"}
    assert event_from(step, NOW).level == "read"
    with pytest.raises(InvalidRequest, match=said):
        event_from({**step, **change}, NOW)


@given(steps())
def test_a_step_reads_back_as_it_was_kept(step: dict[str, Any]) -> None:
    event = from_stored(step)
    assert event is not None
    assert from_stored(stored(event)) == event
