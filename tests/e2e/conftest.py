"""Fixtures over the running local stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.e2e.running import RunningStack, end_session_stack, session_stack

if TYPE_CHECKING:
    from collections.abc import Sequence


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Mark what needs the stack, so that `-m "not stack"` leaves it out; agents only if asked."""
    unasked = pytest.mark.skip(reason="needs ./dev test --agents")
    for item in items:
        if item.get_closest_marker("agents") and not config.getoption("--agents"):
            item.add_marker(unasked)
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session")
def stack() -> Iterator[RunningStack]:
    """The running stack of this test session, shared by all its processes."""
    running = session_stack()
    try:
        yield running
    finally:
        end_session_stack(running)


@pytest.fixture
def api(stack: RunningStack) -> Iterator[httpx.Client]:
    """An HTTP client of the running stack, without credentials."""
    with httpx.Client(base_url=stack.api_url, timeout=30) as client:
        yield client
