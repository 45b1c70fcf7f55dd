"""A handler is put together once, on its first call."""

from __future__ import annotations

from typing import Any

import pytest

from judgment.entry.opening import opened_on_first_call


def test_nothing_is_built_before_the_first_call_and_nothing_twice():
    built: list[str] = []

    def build() -> Any:
        built.append("once")
        return lambda event, _: event["n"] + 1

    handler = opened_on_first_call(build)
    assert built == []
    assert [handler({"n": n}, None) for n in range(3)] == [1, 2, 3]
    assert built == ["once"]


def test_a_failed_start_is_told_and_tried_again():
    attempts: list[int] = []

    def build() -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("DATABASE_URL is required")
        return lambda _event, _context: "open"

    handler = opened_on_first_call(build)
    with pytest.raises(ValueError, match="DATABASE_URL"):
        handler({}, None)
    assert handler({}, None) == "open"
