"""Fixtures over the running local stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.e2e.running import (
    SCRIPTED,
    WINDOW_SECONDS,
    RunningStack,
    end_session_stack,
    session_stack,
)
from tests.fakes.model_server import ModelServer, always

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
def scripted_model() -> Iterator[ModelServer]:
    """A provider that says what a test scripts; no owner has it unless they choose it."""
    with ModelServer(always("no script")) as server:
        yield server


@pytest.fixture(scope="session")
def stack(scripted_model: ModelServer) -> Iterator[RunningStack]:
    """The running stack of this test session, shared by all its processes.

    No model plays a role by itself. Owners may choose `openai-compatible:scripted`. Summaries wait
    for three seconds instead of ten minutes.
    """
    running = session_stack(
        OPENAI_COMPATIBLE_BASE_URL=f"{scripted_model.url}/v1",
        MODEL_OFFERED=SCRIPTED,
        SUMMARY_WINDOW_SECONDS=str(WINDOW_SECONDS),
    )
    try:
        yield running
    finally:
        end_session_stack(running)


@pytest.fixture
def api(stack: RunningStack) -> Iterator[httpx.Client]:
    """An HTTP client of the running stack, without credentials."""
    with httpx.Client(base_url=stack.api_url, timeout=30) as client:
        yield client
