"""Keeps what libraries would log about a model call out of every log, at every level.

The SDK logs whole requests at DEBUG, the HTTP library addresses and headers. Their records are
dropped while a call of ours is under way in this thread, whatever level or handler was set.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_TALKATIVE = ("openai", "httpx", "httpcore")
_quiet: ContextVar[bool] = ContextVar("judgment_llm_quiet", default=False)


class _Unheard(logging.Filter):
    """Lets a record through unless a call is under way."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _quiet.get()


_FILTER = _Unheard()


@contextmanager
def quiet() -> Generator[None]:
    """Nothing of the libraries' logging until the end."""
    mark = _quiet.set(True)
    try:
        silence_loggers()
        yield
    finally:
        _quiet.reset(mark)


def silence_loggers() -> None:
    """Put the filter on every logger of theirs there is by now: a filter is not inherited."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _TALKATIVE:
            logging.getLogger(name).addFilter(_FILTER)
