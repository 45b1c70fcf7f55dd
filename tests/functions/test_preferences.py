"""What an owner wants, through the door, against a real database: captured, compiled, read."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.people import switch_flag, switch_own
from tests.fakes.preferences import Shelf, signal
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-hosted")

EVENTS = Path(__file__).parents[2] / "events/preferences"
ON = '{"global": true, "user_overrides": {}}'


@pytest.fixture
def shelf(module_database: TestDatabase) -> Iterator[Shelf]:
    switch_flag(module_database, ON)
    made = Shelf(module_database)
    yield made
    made.close()


@pytest.fixture
def who(shelf: Shelf) -> uuid.UUID:
    return shelf.somebody()


def ago(**by: float) -> str:
    return (datetime.now(UTC) - timedelta(**by)).isoformat()


def test_what_is_captured_is_read_once_it_is_compiled(shelf: Shelf, who: uuid.UUID):
    status, body = shelf.as_agent(
        who, "POST", "/signals", body={"signals": [signal(value={"note": "Thai — é", "n": 0.1})]}
    )
    assert status == 201
    (kept,) = body["signals"]
    assert (kept["position"], kept["is_new"], kept["supersedes"]) == (1, True, None)
    before = shelf.get(who)
    assert (before["entries"], before["pending"], before["compiled_at"]) == ([], 1, None)
    assert shelf.deliver() == []
    after = shelf.get(who)
    assert (after["total"], after["pending"], after["audience"]) == (1, 0, "self")
    (entry,) = after["entries"]
    assert entry["key"] == "dining.cuisine.thai"
    assert entry["value"] == {"note": "Thai — é", "n": 0.1}
    assert (entry["weight"], entry["confidence"], entry["stale"]) == (0.8, 1.0, False)
    assert entry["provenance"]["sources"] == [kept["id"]]
    assert entry["provenance"]["n_signals"] == 1


def test_an_owner_who_said_nothing_has_an_empty_page(shelf: Shelf, who: uuid.UUID):
    body = shelf.get(who)
    assert (body["entries"], body["total"], body["next_cursor"]) == ([], 0, None)
    assert body["quarantined"] == body["pending"] == 0
    status, block = shelf.as_agent(who, "GET", "/block", query={"platform": "codex"})
    assert (status, block["text"], block["shown"]) == (200, "", 0)
