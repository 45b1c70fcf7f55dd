"""Signals travel to the account and back by the real package, and nothing is doubled or dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.kit.errors import Unavailable
from judgment.kit.hashing import canonical_json
from judgment.preferences.fulcra.port import NotOnboarded
from judgment.preferences.fulcra.records import FIELDS, TYPE_NAME, type_body
from judgment.preferences.signals import payload_of, signal_id
from tests.fakes.fulcra_server import Trouble
from tests.unit.preferences.fulcra.hosts import NOW, Desk

if TYPE_CHECKING:
    from judgment.preferences.fulcra.store import FulcraStore
    from judgment.preferences.model import Signal
    from tests.fakes.fulcra_server import FulcraServer

pytestmark = pytest.mark.promise("P3-fulcra", "001-store-events", "001-fulcra")
Make = Callable[..., "Signal"]

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers()
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(categories=["L"]), max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def test_setting_up_makes_one_type_and_says_where_it_is(desk: Desk, server: FulcraServer) -> None:
    first = desk.store().onboard()
    assert first.created
    assert first.definition_id.startswith("Event/")
    meta = json.loads(desk.store().fetch("meta.json") or "")
    assert meta == {
        "v": 1,
        "event_type": first.definition_id,
        "data_type": first.definition_id,
        "definition_id": first.definition_id.removeprefix("Event/"),
    }
    made = server.account.types[first.definition_id]
    assert made.name == TYPE_NAME
    assert FIELDS["properties"].keys() <= made.schema["properties"].keys()


def test_a_second_host_finds_what_the_first_one_made(
    hosts: Callable[..., Desk], server: FulcraServer
) -> None:
    first = hosts("laptop").store().onboard()
    second = hosts("desktop").store().onboard()
    assert (second.definition_id, second.created) == (first.definition_id, False)
    assert server.count("POST", "/input/v1/data_type") == 1
    assert server.count("POST", "/signed/") == 1


@pytest.mark.parametrize("order", [1, -1])
def test_hosts_that_set_up_at_the_same_moment_agree_and_read_both(
    hosts: Callable[..., Desk], server: FulcraServer, signal: Make, order: int
) -> None:
    """The second one makes its type between the look and the making of the first one."""
    ids = ["0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1", "f0e7b5e1-9f3f-4a44-8a5e-6d6ad3f1c0de"]
    server.account.type_ids = ids[::order]
    real = server.account.add_type

    def add_type(*arguments: Any) -> str:
        server.account.add_type = real  # type: ignore[method-assign]
        real(*arguments)
        return real(*arguments)

    server.account.add_type = add_type  # type: ignore[method-assign]
    agreed = {hosts(name).store().onboard().definition_id for name in ("laptop", "desktop")}
    first, second = sorted(server.account.types)
    assert agreed == {first}
    for data_type, key in ((first, "a.b"), (second, "a.c"), (second, "a.b")):
        payload = canonical_json(payload_of(signal(key)))
        record = {"id": signal(key).id, "payload": payload, "start_time": NOW.isoformat()}
        server.account.ingest(data_type, "v1", [record])
    pulled = hosts("tablet").store().pull()
    assert sorted(found.key for found in pulled.signals) == ["a.b", "a.c"]


def test_what_an_archived_type_holds_is_still_read(
    desk: Desk, store: FulcraStore, server: FulcraServer, signal: Make
) -> None:
    store.push([signal("a.b")])
    for data_type in server.account.types.values():
        data_type.deprecated = True
    assert [found.key for found in desk.store().pull().signals] == ["a.b"]


def test_a_catalogue_that_lists_what_others_share_is_read_with_care(
    desk: Desk, server: FulcraServer, signal: Make
) -> None:
    other = "11111111-7f2f-4d6f-9c39-0a35b5a9f6f1"
    body = type_body()
    identifier = server.account.add_type(
        body["name"], body["description"], body["record_spec"], owner=other
    )
    listed = json.dumps([server.account.types[identifier].entry()])
    server.trouble.append(Trouble("/data/v1/catalog", 200, body=listed))
    with pytest.raises(NotOnboarded):
        desk.store().push([signal("a.b")])


def test_somebody_elses_type_and_an_archived_one_are_not_written_to(
    desk: Desk, server: FulcraServer
) -> None:
    body = type_body()
    other = "11111111-7f2f-4d6f-9c39-0a35b5a9f6f1"
    shared = server.account.add_type(
        body["name"], body["description"], body["record_spec"], owner=other
    )
    archived = server.account.add_type(body["name"], body["description"], body["record_spec"])
    server.account.types[archived].deprecated = True
    found = desk.store().onboard()
    assert found.created
    assert found.definition_id not in (shared, archived)


def test_what_another_system_keeps_in_meta_stays(desk: Desk, server: FulcraServer) -> None:
    theirs = {"definition_id": "d", "data_type": "MomentAnnotation/d", "v": 1, "last_compile": "x"}
    server.account.store("/prefs", "meta.json", "application/json", json.dumps(theirs).encode())
    made = desk.store().onboard().definition_id
    meta = json.loads(desk.store().fetch("meta.json") or "")
    assert meta == {**theirs, "event_type": made}


def test_signals_come_back_as_they_were_sent(store: FulcraStore, signal: Make) -> None:
    sent = [
        signal("dining.cuisine.thai", value={"liked": 0.1 + 0.2, "n": 10**25, "t": "“é”\u2028"}),
        signal("Ärger.Ton", strength=-1.0, confidence=0.25, half_life_days=None, kind="fact"),
        signal("a.b", scope="platform:codex", observed_at="2019-03-01T10:00:00", supersedes="x"),
        signal("a.future", observed_at="2999-01-01T00:00:00Z"),
        signal("a.c", source={"platform": "codex", "agent": "m", "session": "s", "sequence": 7}),
    ]
    pushed = store.push(sent)
    assert (pushed.accepted, pushed.rejected, pushed.trouble) == ({s.id for s in sent}, {}, None)
    pulled = store.pull()
    assert sorted(pulled.signals, key=lambda s: s.id) == sorted(sent, key=lambda s: s.id)
    assert (pulled.quarantined, pulled.left_out) == ((), 0)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=VALUES, strength=st.floats(-1, 1), half_life=st.none() | st.floats(1e-9, 1e9))
def test_any_value_comes_back_unaltered(
    store: FulcraStore, signal: Make, value: Any, strength: float, half_life: float | None
) -> None:
    sent = signal("a.b", value=value, strength=strength, half_life_days=half_life)
    store.push([sent])
    assert sent in store.pull().signals


def test_sending_again_changes_nothing(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    sent = [signal("a.b"), signal("a.c")]
    store.push(sent)
    before = dict(server.account.records)
    assert store.push([*sent, *sent]).accepted == {s.id for s in sent}
    assert server.account.records == before
    assert len(store.pull().signals) == 2


def test_records_travel_a_hundred_at_a_time(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    store.push([signal(f"a.k{number}") for number in range(250)])
    bodies = [r.body.count(b"\n") for r in server.asked if r.path.startswith("/ingest/")]
    assert bodies == [100, 100, 50]


def test_a_store_that_was_told_its_place_asks_no_catalogue_to_write(
    desk: Desk, signal: Make, server: FulcraServer
) -> None:
    place = desk.store().onboard().definition_id
    server.asked.clear()
    desk.store(place).push([signal("a.b")])
    assert [r.path for r in server.asked] == [
        f"/data/v1/catalog/{place}/v1/schema",
        f"/ingest/v1/record/{place}",
    ]


def test_writing_to_an_account_that_was_never_set_up_says_so_and_makes_nothing(
    desk: Desk, signal: Make, server: FulcraServer
) -> None:
    with pytest.raises(NotOnboarded, match="prefs onboard"):
        desk.store().push([signal("a.b")])
    assert server.account.types == {}


@pytest.mark.promise("P3-defect-05")
def test_a_record_that_is_declined_is_found_among_its_neighbours(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    """The service alone knows why: our copy of the schema lets the record through."""
    signals = [signal(f"a.k{number}") for number in range(9)]
    bad = signals[5]
    real = server.account.ingest

    def ingest(data_type: str, version: str, records: list[Any]) -> str:
        from tests.fakes.fulcra_account import Refused

        if any(record["id"] == bad.id for record in records):
            raise Refused(422, [{"loc": ["body"], "msg": "key is not welcome\u202e"}])
        return real(data_type, version, records)

    server.account.ingest = ingest  # type: ignore[method-assign]
    pushed = store.push(signals)
    assert pushed.accepted == {s.id for s in signals} - {bad.id}
    reason = "Fulcra declined signals (422): key is not welcome\\u202e"
    assert pushed.rejected == {bad.id: reason}
    assert server.count("POST", "/ingest/") <= 9


@pytest.mark.parametrize("change", ["drop", "want"])
def test_a_type_that_is_no_longer_ours_is_not_written_to_and_nothing_is_buried(
    store: FulcraStore, signal: Make, server: FulcraServer, change: str
) -> None:
    """The service would drop a field it does not know, and say that it took the record."""
    [data_type] = server.account.types.values()
    if change == "drop":
        del data_type.schema["properties"]["payload"]
    else:
        data_type.schema["required"] = ["mood"]
    with pytest.raises(Unavailable, match="payload" if change == "drop" else "mood"):
        store.push([signal("a.b")])
    assert server.count("POST", "/ingest/") == 0


@pytest.mark.parametrize("body", ["[]", "null", '{"properties": []}', "{"])
def test_a_schema_in_an_unknown_form_sends_nothing(
    store: FulcraStore, signal: Make, server: FulcraServer, body: str
) -> None:
    server.trouble.append(Trouble("/data/v1/catalog/Event", 200, body=body))
    with pytest.raises(Unavailable):
        store.push([signal("a.b")])
    assert server.count("POST", "/ingest/") == 0


def test_consent_and_what_came_from_an_older_system_are_not_sent(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    from dataclasses import replace

    consent = signal("consent.grant.bob", kind="consent")
    foreign = replace(signal("a.b"), id="com.fulcra-prefs.sig.0ebab4696ed3a420a34fb274")
    pushed = store.push([consent, foreign])
    assert pushed.rejected.keys() == {consent.id, foreign.id}
    assert server.count("POST", "/ingest/") == 0


def test_a_record_that_is_none_is_set_aside_counted_and_harms_no_other(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    good = signal("a.b")
    store.push([good])
    [place] = server.account.types
    for text in ("{x", "[]", '{"v":2}', "{}", canonical_json({**payload_of(good), "strength": 2})):
        server.account.ingest(place, "v1", [{"payload": text, "start_time": NOW.isoformat()}])
    pulled = store.pull()
    assert pulled.signals == (good,)
    assert len(pulled.quarantined) == 5
    assert {bad.position for bad in pulled.quarantined} < set(range(1, 7))
    assert all(bad.reason and len(bad.digest) == 64 for bad in pulled.quarantined)


def test_a_record_that_an_agent_named_itself_can_be_meant_by_either_name(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    said = payload_of(signal("a.b"))
    [place] = server.account.types
    own = "1f0e7b5e-9f3f-4a44-8a5e-6d6ad3f1c0de"
    text = json.dumps(said)
    server.account.ingest(
        place, "v1", [{"id": own, "payload": text, "start_time": NOW.isoformat()}]
    )
    store.push([signal("a.b")])
    [found] = store.pull().signals
    assert (found.id, found.aliases) == (signal_id(said), (own,))


def test_a_deletion_hides_statements_about_one_key_and_erases_nothing(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    mine, later, other = (
        signal("health.diet", observed_at="2026-06-01T00:00:00Z"),
        signal("health.diet", observed_at="2026-06-09T00:00:00Z"),
        signal("a.b"),
    )
    store.push([mine, later, other])
    assert store.withdraw("health.diet", before=NOW - timedelta(days=5), ids=[mine.id, "old"]) == 1
    assert {s.id for s in store.pull().signals} == {later.id, other.id}
    assert any(name == mine.id for _, name in server.account.records)


def test_a_statement_that_claims_to_be_of_the_future_can_be_withdrawn(
    store: FulcraStore, signal: Make
) -> None:
    store.push([signal("health.diet", observed_at="2999-01-01T00:00:00Z")])
    assert store.withdraw("health.diet", before=NOW - timedelta(seconds=1)) == 0
    assert store.withdraw("health.diet", before=NOW) == 1
    assert store.pull().signals == ()


def test_a_deletion_reaches_what_is_known_to_be_there_before_it_can_be_read(
    store: FulcraStore, signal: Make, server: FulcraServer
) -> None:
    mine = signal("health.diet")
    server.trouble.append(Trouble("/data/v1/records", 200, body=""))
    store.push([mine])
    assert store.withdraw("health.diet", before=NOW, ids=[mine.id]) == 1
    assert server.account.deleted == {mine.id}


@pytest.mark.parametrize("path", ["/data/v1/records", "/user/v1alpha1/annotation", "/data/v1/cat"])
@pytest.mark.parametrize("status", [400, 422, 500, 503])
def test_an_error_while_reading_is_an_error_and_never_an_empty_answer(
    store: FulcraStore, signal: Make, server: FulcraServer, path: str, status: int
) -> None:
    store.push([signal("a.b")])
    server.trouble.append(Trouble(path, status))
    with pytest.raises(Unavailable):
        store.pull()


@pytest.mark.parametrize("body", ["<html>", '{"detail":"x"}', '"x"', "null"])
@pytest.mark.parametrize("path", ["/user/v1alpha1/annotation", "/data/v1/catalog"])
def test_an_answer_in_an_unknown_form_is_an_error_too(
    store: FulcraStore, server: FulcraServer, path: str, body: str
) -> None:
    server.trouble.append(Trouble(path, 200, body=body))
    with pytest.raises(Unavailable, match="form"):
        store.pull()
