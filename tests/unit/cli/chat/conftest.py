"""The command against the scripted routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.fakes.message_gateway import MessageGateway, Script

Starts = Callable[..., MessageGateway]


@pytest.fixture
def starts() -> Iterator[Starts]:
    """A gateway that plays these scripts, one a message."""
    with ExitStack() as stack:

        def start(*scripts: Script) -> MessageGateway:
            return stack.enter_context(MessageGateway(*scripts))

        yield start
