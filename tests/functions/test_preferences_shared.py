"""Preferences across owners: nothing without consent, nothing more than asked, all of it noted."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgment.preferences.solver.verification import verify
from tests.fakes.people import run_as_admin, switch_flag, switch_own
from tests.fakes.preferences import Shelf, signal
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-consent", "P3-consent-choke")

ON = '{"global": true, "user_overrides": {}}'
THAI, SUSHI = "dining.cuisine.thai", "dining.cuisine.japanese"


@pytest.fixture
def shelf(module_database: TestDatabase) -> Iterator[Shelf]:
    switch_flag(module_database, ON)
    made = Shelf(module_database)
    yield made
    made.close()


@pytest.fixture
def ann(shelf: Shelf) -> uuid.UUID:
    """Somebody with preferences."""
    who = shelf.somebody()
    shelf.capture(
        who,
        signal(THAI, {"spicy": False}, strength=0.9, confidence=0.5),
        signal(SUSHI, "no", strength=-0.7),
        signal("health.allergy", "nuts", kind="fact"),
    )
    return who


@pytest.fixture
def bob(shelf: Shelf) -> uuid.UUID:
    """Somebody who asks."""
    return shelf.somebody()


def asked(shelf: Shelf, who: uuid.UUID, **query: Any) -> tuple[int, Any]:
    return shelf.as_agent(who, "GET", query=query)


def test_without_consent_and_without_existence_is_the_same_answer(
    shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID
):
    refused = asked(shelf, bob, owner=ann)
    assert (refused[0], refused[1]["code"]) == (403, "forbidden")
    assert asked(shelf, bob, owner=uuid.uuid4()) == refused
    assert asked(shelf, bob, owner=shelf.somebody()) == refused
    (line,) = shelf.ledger(ann)
    assert (line["kind"], line["audience"], line["keys"]) == ("denial", f"user:{bob}", [])
    assert shelf.ledger(bob) == []
    shelf.allow(ann, f"user:{bob}", "health.*")
    assert asked(shelf, bob, owner=ann, below="dining") == refused


@pytest.mark.promise("R-6", "P3-ledger")
def test_an_owner_who_switched_agents_off_is_asked_in_vain_and_can_read_who_asked(
    shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID
):
    shelf.allow(ann, f"user:{bob}", "dining.*")
    switch_own(shelf.database, ann, False)
    nobody = asked(shelf, bob, owner=uuid.uuid4(), below="dining")
    assert asked(shelf, bob, owner=ann, below="dining") == nobody
    (line,) = shelf.ledger(ann)
    assert (line["kind"], line["audience"], line["keys"]) == ("denial", f"user:{bob}", ["dining"])
    switch_own(shelf.database, ann, True)
    assert asked(shelf, bob, owner=ann)[0] == 200


def test_consent_opens_what_it_names_to_whom_it_names(shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID):
    shelf.allow(ann, f"user:{bob}", "dining.*")
    status, page = asked(shelf, bob, owner=ann)
    assert status == 200
    assert (page["audience"], page["total"], page["pending"]) == (f"user:{bob}", 2, 0)
    assert [entry["key"] for entry in page["entries"]] == [SUSHI, THAI]
    assert page["entries"][1] == {
        "key": THAI,
        "spelling": None,
        "kind": "preference",
        "value": {"spicy": False},
        "weight": 0.9,
        "confidence": 0.5,
        "stale": False,
        "provenance": None,
    }
    carol = shelf.somebody()
    assert asked(shelf, carol, owner=ann)[0] == 403
    assert asked(shelf, bob, owner=ann, purpose="solve")[0] == 403
    assert [line["kind"] for line in shelf.ledger(ann)] == ["disclosure", "denial", "denial"]
    assert shelf.ledger(ann)[0]["keys"] == [SUSHI, THAI]


def test_a_revocation_holds_from_the_very_next_read(shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID):
    audience = f"user:{bob}"
    shelf.allow(ann, audience, "dining.*", level="solve")
    assert asked(shelf, bob, owner=ann)[0] == 200
    shelf.revoke(ann, "*", THAI)
    assert [e["key"] for e in asked(shelf, bob, owner=ann)[1]["entries"]] == [SUSHI]
    shelf.revoke(ann, audience, "*", level="solve")
    assert asked(shelf, bob, owner=ann)[0] == 200
    assert asked(shelf, bob, owner=ann, purpose="solve")[0] == 403
    shelf.allow(ann, audience, "dining.*", effect="deny")
    assert asked(shelf, bob, owner=ann)[0] == 403
    shelf.allow(ann, audience, "dining.*", effect="lift")
    assert [e["key"] for e in asked(shelf, bob, owner=ann)[1]["entries"]] == [SUSHI]
    history = shelf.as_owner(ann, "GET", "/consent")[1]["events"]
    assert [step["effect"] for step in history] == ["allow", "revoke", "revoke", "deny", "lift"]
    assert [step["live"] for step in history] == [True, False, False, False, False]


def test_consent_ends_when_it_says(shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID):
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    shelf.allow(ann, f"user:{bob}", "*", expires=soon)
    assert asked(shelf, bob, owner=ann)[0] == 200
    run_as_admin(
        shelf.database,
        "UPDATE judgment.consent_events SET expires = now() - interval '1 ms' WHERE user_id = %s",
        ann,
    )
    assert asked(shelf, bob, owner=ann)[0] == 403


def test_the_owner_sees_what_an_audience_sees_and_that_is_noted_too(shelf: Shelf, ann: uuid.UUID):
    assert shelf.as_owner(ann, "GET", query={"audience": "dinner club"})[0] == 403
    shelf.allow(ann, "dinner club", "dining.*")
    status, page = shelf.as_owner(ann, "GET", query={"audience": "dinner club"})
    assert (status, page["total"], page["entries"][0]["provenance"]) == (200, 2, None)
    assert [line["audience"] for line in shelf.ledger(ann)] == ["dinner club"] * 2


def test_nobody_can_ask_for_anothers_as_somebody_else(shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID):
    shelf.allow(ann, "dinner club", "*")
    shelf.allow(ann, f"user:{ann}", "*")
    for audience in ("dinner club", "self", f"user:{ann}"):
        assert asked(shelf, bob, owner=ann, audience=audience)[0] == 400
    assert shelf.ledger(ann) == []


def test_an_owner_who_shut_agents_out_is_shut_for_others_agents_too(
    shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID
):
    shelf.allow(ann, f"user:{bob}", "*", level="solve")
    switch_own(shelf.database, ann, False)
    assert asked(shelf, bob, owner=ann)[0] == 403
    status, body = shelf.as_agent(bob, "POST", "/solve", body=group({"owner": str(ann)}))
    assert (status, body["without_consent"]) == (200, [str(ann)])


@pytest.mark.parametrize("effect", ["deny", "revoke"])
@pytest.mark.parametrize(
    "spelled",
    [
        "user:{upper}",
        "USER:{plain}",
        "User: {plain}",
        "user:{{{plain}}}",
        "user:{hex}",
        "user:{urn}",
    ],
)
def test_an_owners_id_closes_in_whatever_spelling_it_comes(
    shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID, effect: str, spelled: str
):
    audience = spelled.format(plain=bob, upper=str(bob).upper(), hex=bob.hex, urn=bob.urn)
    shelf.allow(ann, audience)
    assert asked(shelf, bob, owner=str(ann).upper())[0] == 200
    shelf.allow(ann, audience, effect="deny") if effect == "deny" else shelf.revoke(ann, audience)
    assert asked(shelf, bob, owner=ann)[0] == 403
    assert shelf.as_owner(ann, "GET", query={"audience": audience})[0] == 403
    events = shelf.as_owner(ann, "GET", "/consent")[1]["events"]
    assert {step["audience"] for step in events} == {f"user:{bob}"}


@pytest.mark.promise("P3-refuse", "P3-defect-07")
@pytest.mark.parametrize(
    "change",
    [
        {"audience": "*"},
        {"audience": "self"},
        {"audience": "b*"},
        {"audience": " "},
        {"audience": "user:"},
        {"audience": "user:bob"},
        {"audience": "USER:*"},
        {"audience": "6f0c2f4a-3f9e-4d53-9d3c-2f6b0f1f8f11", "effect": "deny"},
        {"level": "admin"},
        {"effect": "grant"},
        {"effect": "revoke"},
        {"key_glob": "din*"},
        {"key_glob": "**"},
        {"key_glob": "a..b"},
        {"key_glob": ""},
        {"expires": "2020-01-01T00:00:00Z"},
        {"expires": "soon"},
        {"expires": "9999-12-31T23:59:59-12:00"},
        {"expires": "2030-01-01T00:00:00"},
        {"effect": "lift", "expires": "2030-01-01T00:00:00Z"},
        {"note": "x"},
    ],
)
def test_a_step_of_consent_that_cannot_be_meant_is_400(
    shelf: Shelf, ann: uuid.UUID, change: dict[str, Any]
):
    body = {"key_glob": "dining.*", "audience": "bob"} | change
    before = shelf.everything(ann)
    status, problem = shelf.as_owner(ann, "POST", "/consent", body=body)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert shelf.everything(ann) == before


def test_a_step_sent_again_is_one_step(shelf: Shelf, ann: uuid.UUID):
    body = {"key_glob": "dining.*", "audience": "bob"}
    first = shelf.as_owner(ann, "POST", "/consent", body=body, key="g-1")
    assert first[0] == 201
    assert shelf.as_owner(ann, "POST", "/consent", body=body, key="g-1") == first
    assert len(shelf.as_owner(ann, "GET", "/consent")[1]["events"]) == 1
    assert [e.type for e in shelf.bus.taken if e.user_id == ann][-1] == "consent.changed"
    other = body | {"audience": "carol"}
    assert shelf.as_owner(ann, "POST", "/consent", body=other, key="g-1")[0] == 409


@pytest.mark.promise("R-3")
def test_no_agent_reaches_consent_the_ledger_the_stream_or_a_deletion(shelf: Shelf):
    from judgment.contract.preference_routes import PREFERENCE_ROUTES

    owners = {route.path for route in PREFERENCE_ROUTES if route.auth == "owner"}
    agents = {route.path for route in PREFERENCE_ROUTES if route.auth == "agent"}
    assert {path.rsplit("/", 1)[-1] for path in agents} == {
        *("preferences", "why", "block", "signals", "solve")
    }
    assert {path for path in owners if "consent" in path or "ledger" in path}
    assert not {path for path in agents if "consent" in path or "ledger" in path}


def group(*participants: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A question about two restaurants."""
    options = [{"id": "thai", "keys": [THAI]}, {"id": "sushi", "keys": [SUSHI]}]
    return {"options": options, "participants": list(participants)} | more


@pytest.mark.promise("P3-hosted-group", "P3-solver-verify")
def test_a_group_is_heard_as_far_as_it_consented(shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID):
    shelf.capture(bob, signal(THAI, strength=-0.2), signal(SUSHI, strength=1.0))
    carol, nobody = shelf.somebody(), uuid.uuid4()
    shelf.capture(carol, signal(THAI, strength=1.0))
    shelf.allow(ann, f"user:{bob}", "dining.*", level="solve")
    shelf.allow(carol, f"user:{bob}", "dining.*", level="read")
    people = [{"owner": str(ann)}, {"owner": str(carol)}, {"owner": str(nobody)}, {"self": True}]
    people.append({"id": "guest", "weights": {THAI: 1.0}})
    status, body = shelf.as_agent(bob, "POST", "/solve", body=group(*people, words=True))
    assert status == 200, body
    assert body["without_consent"] == sorted([str(carol), str(nobody)])
    assert [(one["option"], one["rank"]) for one in body["ranking"]] == [("thai", 1), ("sushi", 2)]
    assert verify(body["trace"]) == []
    assert body["words"]
    text = json.dumps(body["trace"])
    assert "health" not in text
    assert "nuts" not in text
    opinions = {one["id"]: one["keys"] for one in body["trace"]["inputs"]["participants"]}
    assert opinions[str(carol)] == opinions[str(nobody)] == {}
    assert opinions[str(ann)][THAI]["weight"] == 0.9
    lines = {who: shelf.ledger(who)[-1] for who in (ann, bob, carol)}
    assert [lines[who]["kind"] for who in (ann, bob, carol)] == [
        *("disclosure", "disclosure", "denial")
    ]
    assert lines[ann]["keys"] == [SUSHI, THAI]
    assert lines[carol]["keys"] == [SUSHI, THAI]
    assert {lines[who]["purpose"] for who in lines} == {"solve"}
    assert lines[bob]["audience"] == "self"
    assert {lines[who]["audience"] for who in (ann, carol)} == {f"user:{bob}"}


@pytest.mark.promise("P3-hosted-group")
def test_of_keys_partly_open_the_rest_is_refused_and_noted(
    shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID
):
    shelf.allow(ann, f"user:{bob}", THAI, level="solve")
    status, body = shelf.as_owner(bob, "POST", "/solve", body=group({"owner": str(ann)}))
    assert (status, body["without_consent"]) == (200, [])
    (held,) = body["trace"]["inputs"]["participants"]
    assert list(held["keys"]) == [THAI]
    assert [(line["kind"], line["keys"]) for line in shelf.ledger(ann)] == [
        ("denial", [SUSHI]),
        ("disclosure", [THAI]),
    ]
    assert shelf.verification(ann)["intact"]


@pytest.mark.promise("P3-refuse", "P3-defect-18")
@pytest.mark.parametrize(
    "people",
    [
        [],
        [{}],
        [{"self": True, "id": "x", "weights": {}}],
        [{"id": "x"}],
        [{"weights": {}}],
        [{"self": True}, {"self": True}],
        [{"id": "x", "weights": {}}, {"id": "x", "weights": {}}],
        [{"id": "x", "weights": {"a": 2}}],
        [{"owner": "me"}],
        [{"self": False}],
    ],
)
def test_participants_that_are_none_are_400_and_nothing_is_noted(
    shelf: Shelf, ann: uuid.UUID, people: list[dict[str, Any]]
):
    status, problem = shelf.as_owner(ann, "POST", "/solve", body=group(*people))
    assert (status, problem["code"]) == (400, "invalid_request")
    assert shelf.ledger(ann) == []


@pytest.mark.promise("P3-refuse", "P3-defect-18")
@pytest.mark.parametrize(
    "change",
    [
        {"options": []},
        {"options": [{"id": "a", "keys": []}, {"id": "a", "keys": []}]},
        {"options": [{"id": "a", "keys": ["k", "k"]}]},
        {"policy": "dictator"},
        {"veto_below": 3},
        {"constraints": [{"kind": "at_most", "subject": "price"}]},
        {"constraints": [{"kind": "bribes", "subject": "price"}]},
    ],
)
def test_a_question_that_is_none_is_400_and_nothing_is_noted(
    shelf: Shelf, ann: uuid.UUID, change: dict[str, Any]
):
    body = group({"self": True}) | change
    status, problem = shelf.as_owner(ann, "POST", "/solve", body=body)
    assert (status, problem["code"]) == (400, "invalid_request"), problem
    assert shelf.ledger(ann) == []


def test_a_question_with_more_opinions_than_can_be_shown_is_413(shelf: Shelf, ann: uuid.UUID):
    options = [{"id": f"o{n}", "keys": [f"k{n}.{m}" for m in range(50)]} for n in range(100)]
    people = [{"owner": str(uuid.uuid4())} for _ in range(5)]
    body = {"options": options, "participants": people}
    status, problem = shelf.as_owner(ann, "POST", "/solve", body=body)
    assert (status, problem["code"]) == (413, "too_large")


@pytest.mark.promise("P3-hosted-erase")
def test_erasing_takes_all_of_it_and_leaves_others_their_ledgers(
    shelf: Shelf, ann: uuid.UUID, bob: uuid.UUID
):
    from judgment.db.connection import Database
    from judgment.db.inventory import erase_owner

    shelf.allow(ann, f"user:{bob}", "dining.*")
    assert asked(shelf, bob, owner=ann)[0] == 200
    shelf.capture(bob, signal())
    shelf.get(bob)
    login = Database(shelf.database.url("judgment_owner"))
    with login.transaction(bob) as tx:
        touched = erase_owner(tx, bob)
    login.close()
    assert touched["judgment.preference_signals"] == touched["judgment.preference_ledger"] == 1
    assert set(map(tuple, shelf.everything(bob).values())) == {()}
    (line,) = shelf.ledger(ann)
    assert line["audience"] == f"user:{bob}", "when and to whom stays with the one who was read"
    assert shelf.verification(ann)["intact"]
    assert rows(shelf.database, "SELECT 1 FROM judgment.owners WHERE user_id = %s", bob) == []
