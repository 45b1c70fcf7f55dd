"""The kill switch, against a real database: admins only, and it holds at once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from functions.flags.handler import build
from judgment.access import store
from judgment.access.flags import KillSwitch
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from tests.fakes.events import agent, http_event, owner
from tests.fakes.people import make_owner, run_as_admin, switch_flag

if TYPE_CHECKING:
    from tests.databases import TestDatabase

FLAGS = "/api/admin/v1/flags"
ADMIN = owner(uuid.uuid4(), admin=True)
ON: dict[str, Any] = {"global": True, "user_overrides": {}}


class Harness:
    """The door over a real database."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.postgres = Database(database.url("judgment_worker"))
        self.door = build(KillSwitch(self.postgres.transaction, store), Telemetry("flags"))

    def call(self, method: str, body: Any = None, who: Any = ADMIN) -> tuple[int, Any]:
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        reply = self.door(http_event(method, FLAGS, principal=who, body=text), None)
        return reply["statusCode"], json.loads(reply["body"])


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    switch_flag(module_database, json.dumps(ON))
    harness = Harness(module_database)
    yield harness
    harness.postgres.close()


@pytest.mark.promise("000-10.1", "R-6", "P1-accept-3")
def test_the_switch_is_read_set_and_holds_at_once(h: Harness):
    who = make_owner(h.database)
    reader = Database(h.database.url("judgment_reader"))

    def allowed() -> bool:
        with reader.transaction(who) as tx:
            return store.agent_access(tx)

    assert h.call("GET") == (200, ON)
    for value, open_ in (
        ({"global": False, "user_overrides": {}}, False),
        ({"global": True, "user_overrides": {str(who): False}}, False),
        ({"global": False, "user_overrides": {str(who): True}}, False),
        ({"global": True, "user_overrides": {str(uuid.uuid4()): False}}, True),
        (ON, True),
    ):
        assert h.call("PUT", value) == (200, value)
        assert h.call("GET") == (200, value)
        assert allowed() is open_
    reader.close()


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize(
    "body",
    [
        None,
        "{",
        {},
        {"global": "true"},
        {"global": 1},
        {"global": None},
        {"global_": True},
        {"global": True, "user_overrides": {"not a uuid": False}},
        {"global": True, "user_overrides": {"0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1": "off"}},
        {"global": True, "user_overrides": []},
        {"global": True, "more": 1},
    ],
    ids=repr,
)
def test_a_switch_of_another_shape_is_400_and_changes_nothing(h: Harness, body: Any):
    status, problem = h.call("PUT", body)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert h.call("GET") == (200, ON)


@pytest.mark.promise("R-19")
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_only_admins_reach_it(h: Harness, method: str):
    assert h.call(method, ON, owner(uuid.uuid4()))[0] == 403
    assert h.call(method, ON, agent(uuid.uuid4()))[0] == 401
    assert h.call(method, ON, None)[0] == 401


def test_a_stored_switch_nobody_can_read_is_a_defect_and_can_be_set_again(h: Harness):
    switch_flag(h.database, '{"global": "maybe"}')
    assert h.call("GET")[0] == 500
    assert h.call("PUT", ON) == (200, ON)


def test_a_missing_switch_is_404(h: Harness):
    run_as_admin(h.database, "DELETE FROM public.agent_feature_flags")
    assert h.call("GET")[0] == 404
    assert h.call("PUT", ON)[0] == 404
    run_as_admin(
        h.database,
        "INSERT INTO public.agent_feature_flags (key, value) VALUES (%s, '{}')",
        "agent_profile_access_enabled",
    )
