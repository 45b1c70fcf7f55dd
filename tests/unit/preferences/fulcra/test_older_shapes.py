"""What two older systems wrote as annotations is read beside our own records, and never changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from judgment.preferences.local.store import LocalStore
from tests.fakes.fulcra_account import ANNOTATION_SOURCE
from tests.unit.preferences.fulcra.hosts import NOW, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from judgment.preferences.fulcra.store import FulcraStore
    from judgment.preferences.model import Signal
    from tests.fakes.fulcra_server import FulcraServer

pytestmark = pytest.mark.promise("P3-fulcra")
Make = Callable[..., "Signal"]
SAID_AT = "2026-06-01T12:00:00+00:00"
TEMPORARY = "com.fulcra-prefs.sig.6f936222acca8cc7f57d0a81"
RECORD = "7d9c2d4e-6c68-4a6f-8d52-0d0f6f5f0a11"
PAYLOAD: dict[str, Any] = {
    "v": 1,
    "kind": "preference",
    "key": "dining.cuisine.thai",
    "scope": "global",
    "value": {"liked": True},
    "strength": 0.8,
    "confidence": 0.9,
    "half_life_days": 90,
    "source": {"platform": "claude-code", "agent": None, "session": None},
    "supersedes": None,
}
BARE: dict[str, Any] = {
    "key": "tone.length",
    "value": "short",
    "scope": "global",
    "strength": -0.5,
}


def note(server: FulcraServer, definition: str, text: str, **more: Any) -> str:
    """Record a moment annotation with this note, as those systems do; its id."""
    sources = [TEMPORARY, ANNOTATION_SOURCE + definition, "com.fulcra-prefs.capture.claude-code"]
    record = {"note": text, "recorded_at": SAID_AT, "sources": sources, "id": RECORD, **more}
    server.account.ingest("MomentAnnotation", "v1alpha1", [record])
    return str(record["id"])


def test_a_payload_in_a_note_is_read_and_its_two_names_are_kept(
    store: FulcraStore, server: FulcraServer
) -> None:
    note(server, server.account.define("Preference Signals"), json.dumps(PAYLOAD))
    [signal] = store.pull().signals
    assert (signal.kind, signal.key, signal.value) == (
        "preference",
        "dining.cuisine.thai",
        {"liked": True},
    )
    assert (signal.strength, signal.confidence, signal.half_life_days) == (0.8, 0.9, 90)
    assert (signal.observed_at.isoformat(), signal.source.platform) == (SAID_AT, "claude-code")
    assert {RECORD, TEMPORARY} <= {signal.id, *signal.aliases}


@pytest.mark.parametrize("field", ["note", "data"])
@pytest.mark.parametrize("layers", [0, 1])
def test_the_other_system_is_read_with_what_it_leaves_out(
    store: FulcraStore, server: FulcraServer, field: str, layers: int
) -> None:
    """Its note may be encoded twice, and come back under either name."""
    definition = server.account.define("User Preference")
    identifier = note(server, definition, "x", sources=[ANNOTATION_SOURCE + definition])
    text = json.dumps(BARE)
    for _ in range(layers):
        text = json.dumps({"note": text})
    record = server.account.records[("MomentAnnotation", identifier)]
    del record["note"]
    record[field] = text
    [signal] = store.pull().signals
    assert (signal.kind, signal.key, signal.value, signal.strength) == (
        "preference",
        "tone.length",
        "short",
        -0.5,
    )
    assert signal.confidence == 1.0
    assert signal.observed_at.isoformat() == SAID_AT


def test_a_statement_that_was_sent_again_and_again_can_be_kept_and_corrected(
    store: FulcraStore, server: FulcraServer, tmp_path: Path
) -> None:
    """The older program retries a record for ever; each time the service gives it another id."""
    definition = server.account.define("Preference Signals")
    ids = [f"00000000-0000-4000-8000-{number:012}" for number in range(40)]
    for identifier in ids:
        note(server, definition, json.dumps(PAYLOAD), id=identifier)
    correction = {**PAYLOAD, "value": "corrected", "strength": -0.1, "supersedes": ids[-1]}
    sources = [ANNOTATION_SOURCE + definition]
    note(server, definition, json.dumps(correction), sources=sources,
         recorded_at="2026-05-01T00:00:00+00:00")  # fmt: skip
    files = LocalStore(tmp_path / "prefs", lambda: NOW)
    for _ in range(2):
        files.receive(store.pull().signals)
    signals, bad = files.signals()
    assert (len(signals), bad) == (2, [])
    files.compile()
    document = files.document()
    assert document is not None
    assert document["keys"]["dining.cuisine.thai"]["value"] == "corrected"


def test_older_records_that_say_nothing_are_set_aside_and_counted(
    store: FulcraStore, server: FulcraServer, signal: Make
) -> None:
    definition = server.account.define("Preference Signals")
    ids = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(5)]
    texts = ["felt energised", "", "[]", json.dumps({**PAYLOAD, "strength": 7}), "null"]
    for identifier, text in zip(ids, texts, strict=True):
        note(server, definition, text, id=identifier)
    server.account.records[("MomentAnnotation", ids[0])]["recorded_at"] = SAID_AT
    store.push([signal("a.b")])
    pulled = store.pull()
    assert [found.key for found in pulled.signals] == ["a.b"]
    assert [bad.position for bad in pulled.quarantined] == [2, 3, 4, 5, 6]


def test_consent_of_another_system_is_left_out_and_counted(
    store: FulcraStore, server: FulcraServer
) -> None:
    value = {"keys": ["a.b"], "audience": "bob", "purpose": "read"}
    disclosed = {**PAYLOAD, "kind": "consent", "key": "consent.disclosure.bob", "value": value}
    note(server, server.account.define("Preference Signals"), json.dumps(disclosed))
    pulled = store.pull()
    assert (pulled.signals, pulled.quarantined, pulled.left_out) == ((), (), 1)


def test_only_the_two_named_definitions_are_read_and_none_that_was_deleted(
    store: FulcraStore, server: FulcraServer
) -> None:
    other = server.account.define("Mood")
    gone = server.account.define("User Preference", deleted_at=SAID_AT)
    for definition in (other, gone):
        note(server, definition, json.dumps(PAYLOAD), id=definition)
    assert store.pull().signals == ()
    assert server.count("GET", "/data/v1alpha1/event/MomentAnnotation") == 0


def test_two_definitions_of_one_name_are_both_read(
    store: FulcraStore, server: FulcraServer
) -> None:
    for key in ("a.b", "a.c"):
        definition = server.account.define("Preference Signals")
        sources = [ANNOTATION_SOURCE + definition]
        note(
            server,
            definition,
            json.dumps({**PAYLOAD, "key": key}),
            id=definition,
            sources=sources,
        )
    assert {signal.key for signal in store.pull().signals} == {"a.b", "a.c"}


def test_every_read_names_its_window(store: FulcraStore, server: FulcraServer) -> None:
    """Without one the service answers 422; whoever swallows that sees an empty account."""
    server.account.define("Preference Signals")
    store.pull()
    [asked] = [r for r in server.asked if r.path.startswith("/data/v1alpha1/")]
    assert asked.query == {
        "start_time": ["2020-01-01T00:00:00+00:00"],
        "end_time": ["2026-06-11T12:00:00+00:00"],
    }


def test_an_older_statement_is_withdrawn_by_its_own_kind_of_tombstone(
    store: FulcraStore, server: FulcraServer
) -> None:
    note(server, server.account.define("Preference Signals"), json.dumps(PAYLOAD))
    assert store.withdraw("dining.cuisine.thai", before=NOW) == 1
    [asked] = [r for r in server.asked if r.path == "/ingest/v1/record/DeletedRecord"]
    assert asked.query == {"api_version": ["v1alpha1"]}
    assert json.loads(asked.body) == {"record_id": RECORD, "data_type": "MomentAnnotation"}
    assert store.pull().signals == ()


def test_an_older_signal_is_never_sent_a_second_time(
    desk: Desk, store: FulcraStore, server: FulcraServer
) -> None:
    note(server, server.account.define("Preference Signals"), json.dumps(PAYLOAD))
    [signal] = store.pull().signals
    pushed = desk.store().push([signal])
    before = dict(server.account.records)
    assert pushed.accepted == frozenset()
    assert server.account.records == before
