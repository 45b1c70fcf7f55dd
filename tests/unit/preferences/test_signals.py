"""A signal is strict: what it may hold, what it may be called, when it was said."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.preferences.compiling import compile_signals, encoded
from judgment.preferences.documents import read_document, view
from judgment.preferences.keys import checked_glob, checked_key, glob_matches
from judgment.preferences.model import InvalidSignal
from judgment.preferences.signals import captured_from, payload_of, read_lines, signal_from, stored
from tests.unit.preferences.statements import NOW, days_ago, kept, said

pytestmark = pytest.mark.promise("P3-core-signal", "001-signals")

SOUND: dict[str, Any] = {
    "key": "dining.cuisine.thai",
    "value": {"liked": True},
    "strength": 0.8,
    "source": {"platform": "codex"},
}


def refused(**change: Any) -> str:
    """The words with which a changed statement is refused."""
    with pytest.raises(InvalidSignal) as refusal:
        signal_from({**SOUND, **change}, received_at=NOW)
    return refusal.value.message


@pytest.mark.promise("P3-defect-09", "P3-defect-10", "P3-refuse")
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("strength", (1.0001, -2, 9.99, float("nan"), float("inf"), "0.5", True, None)),
        ("confidence", (-0.1, 1.1, float("nan"), "1", False, None)),
        ("half_life_days", (0, -1, float("inf"), float("nan"), 10**400, "90", True)),
        ("kind", ("wish", "", None, 1)),
        ("scope", ("platform:", "codex", "Global", "", None, "platform:../../x", "platform:A")),
        ("observed_at", ("garbage", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z", "20260610", 7,
                         "2026-06-10T24:00:00", "9999-12-31T23:59:59-14:00", "")),
        ("source", ({}, {"platform": ""}, {"platform": "../x"}, {"platform": "a/b"}, None, "codex",
                    {"platform": "x" * 41}, {"platform": "a", "session": "two\nlines"},
                    {"platform": "a", "sequence": -1}, {"platform": "a", "sequence": 1.0},
                    {"platform": "a", "mood": "x"})),
        ("value", (float("nan"), [float("inf")], {"a": "\ud800"}, "\x00", "x" * 8_200, {1: 2},
                   10**5_000, object())),
        ("v", (2, "1", True, None)),
        ("supersedes", ("", 5, "a\nb", "x" * 201)),
        ("mood", ("sunny",)),
    ],
)  # fmt: skip
def test_what_breaks_the_model_is_refused_by_the_fields_name_and_not_its_value(
    field: str, values: tuple[Any, ...]
) -> None:
    for value in values:
        message = refused(**{field: value})
        assert message
        if isinstance(value, str) and len(value) > 3:
            assert value not in message
    assert signal_from(SOUND, received_at=NOW).strength == 0.8


@pytest.mark.parametrize("field", ["key", "value", "strength", "source"])
def test_what_is_required_is_missed(field: str) -> None:
    with pytest.raises(InvalidSignal, match=field):
        signal_from({k: v for k, v in SOUND.items() if k != field}, received_at=NOW)


def test_a_value_deeper_than_32_is_refused_and_no_recursion_ends_it() -> None:
    deep: Any = 1
    for _ in range(33):
        deep = [deep]
    assert "deep" in refused(value=deep)
    for _ in range(3_000):
        deep = [deep]
    assert "deep" in refused(value=deep)
    assert read_lines(["[" * 60_000])[1][0].reason


@pytest.mark.promise("P3-defect-09", "001-decay")
def test_a_preference_fades_unless_it_says_so_and_a_fact_does_not() -> None:
    assert said().half_life_days == 90
    assert said(kind="fact").half_life_days is None
    assert said(half_life_days=None).half_life_days is None
    assert said(kind="fact", half_life_days=7).half_life_days == 7


@pytest.mark.promise("P3-defect-15")
@pytest.mark.parametrize("value", [1e-9, 0.1234567890123, 12345678901234567890, [1.0, 1], -0.0])
def test_an_owners_numbers_are_kept_as_they_are(value: Any) -> None:
    signal = said(value=value)
    entry = compile_signals([signal], NOW).documents[None]["keys"][signal.key]
    assert repr(entry["value"]) == repr(value)
    [again], _ = read_lines([json.dumps({**payload_of(signal), "id": signal.id})])
    assert repr(again.value) == repr(value)


@pytest.mark.parametrize(
    "key",
    [
        "", ".", "a.", ".a", "a..b", "a b. c", " a", "a ", "a\nb", "a\tb", "a\u202eb", "a\u00a0b",
        "a\u200bb", "a*b", "*", "a.*", "a\x7fb", "\ud800", "x" * 201, None, 5, ["a"], "a\u2028b",
        "\ue000", "e\u0301" * 201,
    ],
)  # fmt: skip
def test_a_key_that_could_be_mistaken_for_something_else_is_refused(key: Any) -> None:
    with pytest.raises(InvalidSignal, match="key"):
        checked_key(key)


@pytest.mark.promise("P3-core")
def test_two_spellings_of_a_key_are_one_key_and_the_winners_spelling_is_kept() -> None:
    written, other = "cafe\u0301.oat", "caf\u00e9.oat"
    life = kept([said(other, 1, observed_at=days_ago(2)), said(written, 2)])
    keys = compile_signals(life, NOW).documents[None]["keys"]
    assert list(keys) == [other]
    assert (keys[other]["spelling"], keys[other]["value"]) == (written, 2)
    assert payload_of(life[1])["key"] == written
    assert "spelling" not in compile_signals(life[:1], NOW).documents[None]["keys"][other]


@given(st.text(max_size=30))
def test_any_text_is_a_key_in_nfc_or_refused(text: str) -> None:
    try:
        key, spelling = checked_key(text)
    except InvalidSignal:
        return
    assert key == unicodedata.normalize("NFC", text)
    assert spelling == (None if key == text else text)
    assert checked_key(key) == (key, None)
    assert key.isprintable()
    assert glob_matches(key, key)


def test_case_counts_in_keys_and_globs() -> None:
    assert checked_key("Dining.Thai")[0] != checked_key("dining.thai")[0]
    assert not glob_matches("dining.*", "Dining.thai")


@pytest.mark.promise("P3-defect-19")
@pytest.mark.parametrize("glob", ["din*", "a.b*", "**", "a.**", "a?", "[ab]", "", "a..*", "*a", 5])
def test_a_glob_that_stands_for_part_of_a_segment_is_refused(glob: Any) -> None:
    with pytest.raises(InvalidSignal):
        checked_glob(glob)


SEGMENT = st.sampled_from(("a", "b", "ab"))


@pytest.mark.promise("P3-defect-19", "P3-consent")
@given(st.lists(SEGMENT | st.just("*"), min_size=1, max_size=4), st.lists(SEGMENT, min_size=1))
def test_a_glob_covers_what_its_segments_do(glob: list[str], key: list[str]) -> None:
    """Said by recursion instead: a last star takes one segment or more, any other exactly one."""

    def covers(pattern: list[str], rest: list[str]) -> bool:
        if not pattern or not rest:
            return not pattern and not rest
        if pattern == ["*"]:
            return True
        return pattern[0] in ("*", rest[0]) and covers(pattern[1:], rest[1:])

    assert glob_matches(".".join(glob), ".".join(key)) == covers(glob, key)


@pytest.mark.promise("P3-defect-04")
def test_a_time_without_a_zone_is_utc_and_marked_and_another_zone_is_the_same_moment() -> None:
    naive = said(observed_at="2026-06-01T12:00:00")
    assert (naive.observed_at, naive.naive_time) == (datetime(2026, 6, 1, 12, tzinfo=UTC), True)
    entry = compile_signals([naive], NOW).documents[None]["keys"][naive.key]
    assert entry["flags"] == ["naive_time"]
    zoned = said(observed_at="2026-06-01T14:00:00+02:00")
    assert (zoned.observed_at, zoned.naive_time) == (naive.observed_at, False)


@pytest.mark.promise("P3-defect-04")
@pytest.mark.parametrize("field", ["observed_at", "recorded_at"])
@pytest.mark.parametrize(
    "garbage",
    [
        *("garbage", "garbage-and-more-of-it", "2026-13-45T99:99:99Z", "2026-02-30T12:00:00Z"),
        *("9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00+00:01", "2026-06-01T24:00:00Z"),
        *("2026-06-01T12:00:00+99:00", "0001-01-01T00:00:00Z", 1_780_000_000, [], {}, True, 1e300),
    ],
    ids=repr,
)
def test_a_stored_record_whose_time_is_no_time_is_set_aside_and_stops_no_compile(
    field: str, garbage: Any
) -> None:
    [good] = kept([said(observed_at=days_ago(1))])
    bad = {**stored(good), "id": "bad", field: garbage}
    signals, aside = read_lines([json.dumps(bad), json.dumps(stored(good))])
    assert (signals, [one.position for one in aside]) == ([good], [1])
    compiled = compile_signals(signals, NOW, len(aside))
    assert compiled.documents[None]["keys"][good.key]["sources"] == [good.id]


@pytest.mark.promise("P3-core", "P3-core-decay")
@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        ("2026-03-29T02:30:00+01:00", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
        ("2026-10-25T02:30:00+02:00", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        ("2026-10-25T02:30:00+01:00", datetime(2026, 10, 25, 1, 30, tzinfo=UTC)),
    ],
)
def test_the_first_and_last_moment_and_the_hours_of_a_clock_change_are_told_apart(
    written: str, moment: datetime
) -> None:
    [signal] = kept([said(observed_at=written)])
    assert signal.observed_at == moment
    assert read_lines([json.dumps(stored(signal))]) == ([signal], [])
    for now in (datetime(1970, 1, 1, tzinfo=UTC), NOW, datetime(9999, 12, 31, tzinfo=UTC)):
        document = compile_signals([signal], now).documents[None]
        [entry] = view(read_document(encoded(document)), now)
        assert entry.weight == document["keys"][signal.key]["weight"]
        assert 0 <= entry.weight <= 0.8


@pytest.mark.promise("P3-core-compile")
def test_the_future_is_clamped_and_flagged_and_wins_nothing_by_being_far_away() -> None:
    far = said(value="far", strength=0.8, observed_at="2099-01-01T00:00:00Z")
    first, second = kept([far, said(value="now", observed_at=days_ago(0))])
    alone = compile_signals([first], NOW).documents[None]["keys"][far.key]
    assert (alone["weight"], alone["flags"]) == (0.8, ["future"])
    assert alone["observed_at"] == "2099-01-01T00:00:00+00:00"
    both = compile_signals([first, second], NOW).documents[None]["keys"][far.key]
    assert both["value"] == "now"
    faded = compile_signals([first], NOW + timedelta(days=90)).documents[None]["keys"][far.key]
    assert faded["weight"] == 0.4


@pytest.mark.promise("P3-defect-17", "P3-ledger-chain")
@pytest.mark.parametrize("key", ["consent.disclosure.bob", "consent.grant.bob", "a.b"])
def test_nothing_captured_is_consent(key: str) -> None:
    with pytest.raises(InvalidSignal, match="consent"):
        captured_from({**SOUND, "kind": "consent", "key": key}, received_at=NOW)


@pytest.mark.promise("P3-defect-12", "001-consent")
def test_consent_never_enters_a_document_and_retires_no_preference() -> None:
    liked = said(observed_at=days_ago(5))
    for kind in ("consent", "fact"):
        taken = said(liked.key, "gone", kind=kind, supersedes=liked.id)
        entry = compile_signals([liked, taken], NOW).documents[None]["keys"][liked.key]
        assert entry["value"] == (True if kind == "consent" else "gone")


@pytest.mark.promise("P3-defect-12")
def test_a_preference_that_names_consent_is_ignored_and_reported() -> None:
    consent = said(kind="consent", observed_at=days_ago(5))
    compiled = compile_signals([consent, said(supersedes=consent.id)], NOW)
    assert [one.reason for one in compiled.report.ignored_supersedes] == ["consent"]
    assert compiled.report.superseded == 0


@pytest.mark.promise("P3-defect-12")
@pytest.mark.parametrize(
    ("scope", "of_scope", "holds"),
    [
        ("platform:codex", "global", False),
        ("global", "platform:codex", True),
        ("platform:codex", "platform:codex", True),
        ("platform:codex", "platform:hermes", False),
    ],
)
def test_a_supersede_stays_within_its_scope_or_comes_from_above(
    scope: str, of_scope: str, holds: bool
) -> None:
    old = said(value="old", scope=of_scope, observed_at=days_ago(1))
    new = said(value="new", scope=scope, supersedes=old.id, observed_at=days_ago(9))
    report = compile_signals([old, new], NOW).report
    assert report.superseded == holds
    assert [one.reason for one in report.ignored_supersedes] == ([] if holds else ["another scope"])


def test_a_supersede_of_another_key_or_of_nobody_is_harmless_and_reported() -> None:
    other = said("editor.indent", "tabs")
    life = [other, said(value=1, supersedes=other.id), said(value=2, supersedes="nobody")]
    compiled = compile_signals(life, NOW)
    assert set(compiled.documents[None]["keys"]) == {"editor.indent", "dining.cuisine.thai"}
    reasons = {one.reason for one in compiled.report.ignored_supersedes}
    assert reasons == {"another key", "unknown"}
