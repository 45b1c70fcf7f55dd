"""Events carry ids and nothing else, and their types are a closed list."""

from __future__ import annotations

import pytest

from judgment.contract.jobs import EVENTS, Event, EventType


@pytest.mark.promise("R-24", "P1-1")
def test_the_catalogue_describes_exactly_the_types_there_are() -> None:
    assert [row.type for row in EVENTS] == list(EventType.__args__)
    assert all(row.version >= 1 and row.meaning and row.subject for row in EVENTS)


@pytest.mark.promise("R-24")
def test_an_event_holds_ids_only() -> None:
    schema = Event.model_json_schema()
    kinds = {name: field.get("format") for name, field in schema["properties"].items()}
    assert kinds == {
        "id": "uuid",
        "type": None,
        "version": None,
        "user_id": "uuid",
        "subject_id": "uuid",
        "correlation_id": None,
    }
    assert schema["additionalProperties"] is False
    assert schema["properties"]["type"]["enum"] == list(EventType.__args__)
