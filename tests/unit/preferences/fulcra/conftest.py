"""The real package against a server on this machine, signed in unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.preferences.fulcra.client import Settings
from judgment.preferences.signals import signal_from
from tests.fakes.fulcra_server import FulcraServer
from tests.unit.preferences.fulcra.hosts import NOW, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from judgment.preferences.fulcra.store import FulcraStore
    from judgment.preferences.model import Signal


@pytest.fixture
def server() -> Iterator[FulcraServer]:
    with FulcraServer() as running:
        yield running


@pytest.fixture
def hosts(server: FulcraServer, tmp_path: Path) -> Callable[..., Desk]:
    """Makes hosts of one account; signed in."""

    def host(name: str, **changes: Any) -> Desk:
        usual = {
            "credentials": tmp_path / name / "credentials.json",
            "audience": server.audience,
            "domain": "127.0.0.1:9",
        }
        desk = Desk(server, Settings(**{**usual, **changes}))
        desk.sign_in()
        return desk

    return host


@pytest.fixture
def desk(hosts: Callable[..., Desk]) -> Desk:
    return hosts("laptop")


@pytest.fixture
def store(desk: Desk) -> FulcraStore:
    """An account that has been set up."""
    store = desk.store()
    store.onboard()
    return store


@pytest.fixture
def signal() -> Callable[..., Signal]:
    """Makes signals that were stated at NOW."""

    def make(key: str, **changes: Any) -> Signal:
        payload = {"key": key, "value": True, "strength": 0.5, "source": {"platform": "codex"}}
        return signal_from({**payload, **changes}, received_at=NOW)

    return make
