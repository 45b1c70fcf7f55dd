"""What the reference system gives for the same input, and where we differ by ruling 15."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from judgment.preferences.compiling import compile_signals
from judgment.preferences.decay import is_stale, weight_at
from judgment.preferences.ledger import START, Event, linked
from judgment.preferences.legacy import entry_view, read_record, rounded_json, temp_id
from judgment.preferences.signals import payload_of, signal_id
from tests.unit.preferences.statements import NOW, days_ago, said

pytestmark = pytest.mark.promise("P3-core-vectors", "R-15")

TEMP = ("dining.cuisine.thai", "2026-06-01T12:00:00+00:00", "claude-code")


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        ((), "0ebab4696ed3a420a34fb274"),
        (({"liked": True},), "6f936222acca8cc7f57d0a81"),
        ((None,), "2ffa832da63f5ce535d57b62"),
    ],
)
def test_the_older_id_function_gives_the_published_ids(value: tuple[Any, ...], digits: str) -> None:
    assert temp_id(*TEMP, *value) == f"com.fulcra-prefs.sig.{digits}"


@pytest.mark.promise("001-decay", "P3-core-decay")
@pytest.mark.parametrize(
    ("strength", "days", "weight"), [(0.8, 90, 0.4), (-0.8, 90, -0.4), (0.8, -30, 0.8)]
)
def test_decay_gives_the_published_weights(strength: float, days: float, weight: float) -> None:
    compiled = compile_signals([said(strength=strength, observed_at=days_ago(days))], NOW)
    assert compiled.documents[None]["keys"]["dining.cuisine.thai"]["weight"] == weight
    assert weight_at(strength, 90, max(days, 0)) == weight


@pytest.mark.promise("001-decay")
def test_a_fact_is_stale_one_second_after_180_days_and_not_before() -> None:
    moment = NOW - timedelta(days=180)
    for early, stale in ((timedelta(0), False), (timedelta(seconds=1), True)):
        fact = said(kind="fact", observed_at=(moment - early).isoformat())
        entry = compile_signals([fact], NOW).documents[None]["keys"][fact.key]
        assert ("stale" in entry) is stale
    assert not is_stale(90, 10_000)


def test_the_older_canonical_form_rounds_and_ours_does_not() -> None:
    given = {"b": 1.0000004, "a": [-1e-9, "\u00e9"], "c": None}
    assert rounded_json(given) == '{"a":[0.0,"\u00e9"],"b":1.0,"c":null}'
    signal = said(value=given)
    assert compile_signals([signal], NOW).documents[None]["keys"][signal.key]["value"] == given


def test_a_reader_of_the_older_documents_finds_its_six_fields() -> None:
    record = {
        "id": "x",
        "recorded_at": "2026-03-12T12:00:00+00:00",
        "note": '{"v":1,"kind":"preference","key":"k.a","scope":"global","value":{"liked":true},'
        '"strength":0.8,"confidence":1.0,"half_life_days":90,"supersedes":null}',
    }
    document = compile_signals([read_record(record)], NOW).documents[None]
    assert document["v"] == 1
    assert document["compiled_at"] == "2026-06-10T12:00:00+00:00"
    assert entry_view(document["keys"]["k.a"]) == {
        "confidence": 1.0,
        "n_signals": 1,
        "observed_at": "2026-03-12T12:00:00+00:00",
        "sources": ["x"],
        "value": {"liked": True},
        "weight": 0.4,
    }


@pytest.mark.promise("P3-defect-02")
@pytest.mark.parametrize(
    "other",
    [
        {"scope": "platform:codex"},
        {"kind": "fact"},
        {"strength": 0.7},
        {"confidence": 0.5},
        {"half_life_days": 30},
        {"supersedes": "x"},
        {"source": {"sequence": 1}},
        {"source": {"agent": "a"}},
        {"value": None},
        {"observed_at": days_ago(1)},
    ],
    ids=str,
)
def test_our_id_covers_the_whole_payload(other: dict[str, Any]) -> None:
    base = {"half_life_days": 90, "observed_at": days_ago(0)}
    one, another = said(**base), said(**{**base, **other})
    assert one.id != another.id
    assert one.id == said(**base).id == signal_id(payload_of(one))
    keys = [len(compile_signals([one, another], NOW).documents[p]["keys"]) for p in (None,)]
    assert keys == [1]


@pytest.mark.promise("001-signals")
def test_a_record_keeps_the_names_by_which_it_may_be_superseded() -> None:
    old = read_record(
        {
            "id": "server-id",
            "recorded_at": days_ago(9),
            "sources": [temp_id(*TEMP), "com.fulcra-prefs.capture.codex"],
            "note": '{"key":"dining.cuisine.thai","scope":"global","value":1,"strength":0.9}',
        }
    )
    assert (old.id, old.aliases, old.source.platform) == (temp_id(*TEMP), ("server-id",), "codex")
    for name in (temp_id(*TEMP), "server-id"):
        new = said(value=2, strength=0.1, supersedes=name, observed_at=days_ago(20))
        entry = compile_signals([old, new], NOW).documents[None]["keys"][old.key]
        assert (entry["value"], entry["n_signals"]) == (2, 1)


@pytest.mark.parametrize(
    "record",
    [
        {"recorded_at": days_ago(1), "note": '{"note": "{\\"key\\":\\"a.b\\",\\"value\\":1,'
         '\\"scope\\":\\"global\\",\\"strength\\":0.5}"}', "source": ["d"], "id": "r"},
        {"data": '{"key":"a.b","value":1,"scope":"global","strength":0.5}', "id": "r",
         "metadata": {"recorded_at": {"start": days_ago(1), "end": days_ago(1)}, "source": ["d"]}},
        {"data": {"key": "a.b", "value": 1, "scope": "global", "strength": 0.5}, "id": "r",
         "recorded_at": days_ago(1)},
    ],
    ids=["json in json", "a data record", "an object"],
)  # fmt: skip
def test_the_short_shape_is_read_with_our_defaults(record: dict[str, Any]) -> None:
    signal = read_record(record)
    assert (signal.key, signal.kind, signal.confidence, signal.half_life_days) == (
        *("a.b", "preference", 1.0, 90.0),
    )
    assert signal.observed_at == NOW - timedelta(days=1)


def test_a_disclosure_is_noted_with_the_published_value_and_one_of_theirs_is_no_preference() -> (
    None
):
    event = Event("disclosure", NOW, "bob", "read", "cli", ("k.b", "k.a"), "h", "r")
    value = {"keys": ["k.a", "k.b"], "audience": "bob", "purpose": "read"}
    noted = json.loads(linked(START, event).entry)
    assert {name: noted[name] for name in value} == value
    assert noted["platform"] == "cli"
    theirs = read_record(
        {
            "id": "d",
            "recorded_at": days_ago(1),
            "note": json.dumps(
                {"v": 1, "kind": "consent", "key": "consent.disclosure.bob", "scope": "global",
                 "value": value, "strength": 1, "confidence": 1.0, "half_life_days": None,
                 "source": {"platform": "cli"}, "supersedes": None}
            ),
        }
    )  # fmt: skip
    assert (theirs.kind, theirs.value, theirs.strength, theirs.half_life_days) == (
        *("consent", value, 1.0, None),
    )
    assert compile_signals([theirs], NOW).documents[None]["keys"] == {}
