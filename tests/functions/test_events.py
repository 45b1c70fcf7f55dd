"""The example events are events that the doors' routes, or their schedules, really get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.catalogue import CATALOGUE
from judgment.contract.principal import Principal

if TYPE_CHECKING:
    from judgment.contract.routes import Route

EVENTS = Path(__file__).parents[2] / "events"
BY_TRIGGER = {
    trigger: [door.name for door in CATALOGUE.doors if door.trigger == trigger]
    for trigger in ("http", "authorizer", "schedule", "queue")
}
ROUTES = {(route.method, route.path): route for route in CATALOGUE.routes}


def examples(trigger: str) -> list[Any]:
    """Door and file of every example of the doors with that trigger."""
    return [
        pytest.param(door, file, id=f"{door}/{file.stem}")
        for door in BY_TRIGGER[trigger]
        for file in sorted((EVENTS / door).glob("*.json"))
    ]


def route_of(event: dict[str, Any]) -> Route:
    """The row of the table that the event came by."""
    method, path = event["httpMethod"], event["resource"]
    return ROUTES.get((method, path)) or ROUTES["ANY", path]


@pytest.mark.parametrize(("door", "file"), examples("http"))
def test_a_request_came_by_a_route_of_its_door_with_a_caller_it_accepts(door: str, file: Path):
    event = json.loads(file.read_text())
    route = route_of(event)
    assert route.door == door
    context = event["requestContext"].get("authorizer")
    if route.auth == "none":
        assert not context
    else:
        kind = Principal.from_context(context).kind
        assert route.auth == "either" or kind == ("agent" if route.auth == "agent" else "owner")


@pytest.mark.parametrize(("door", "file"), examples("authorizer"))
def test_an_authorizer_is_asked_for_a_guarded_route_only(door: str, file: Path):
    event = json.loads(file.read_text())
    assert event["type"] == "REQUEST"
    assert event["methodArn"].endswith(f"/{event['httpMethod']}{event['path']}")
    assert route_of(event).auth != "none"


@pytest.mark.parametrize(("door", "file"), examples("schedule"))
def test_a_tick_is_one_of_the_catalogues(door: str, file: Path):
    ticks = [{"task": s.task} for s in CATALOGUE.schedules if s.door == door]
    assert json.loads(file.read_text()) in ticks


@pytest.mark.parametrize(("door", "file"), examples("queue"))
def test_a_delivery_came_from_a_queue_that_its_door_consumes(door: str, file: Path):
    queues = {queue.name for queue in CATALOGUE.queues if queue.consumer == door}
    records = json.loads(file.read_text())["Records"]
    assert records
    assert {record["eventSourceARN"].rpartition(":")[2] for record in records} <= queues
