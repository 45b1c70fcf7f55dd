"""The real small model, for those tests that asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.assets import AssetMissing
from tests.bench.peers.peer import PeerUnavailable
from tests.models.small_model import SmallModel

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs the model; leave it out unless asked."""
    unasked = pytest.mark.skip(reason="needs ./dev test --models")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.models)
            if not config.getoption("--models"):
                item.add_marker(unasked)


@pytest.fixture(scope="session")
def small_model() -> Iterator[SmallModel]:
    """The running model, or a skip that says what cannot be had."""
    running = SmallModel()
    try:
        running.__enter__()
    except (AssetMissing, PeerUnavailable) as missing:
        pytest.skip(str(missing))
    yield running
    running.__exit__(None, None, None)
