"""The pool of execution environments: few, reused, never shared by two calls at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from infra.local.gateway.invoking import (
    MAX_PAYLOAD_BYTES,
    FunctionError,
    FunctionSpec,
    IntegrationTimeout,
    Invocation,
    PayloadTooLarge,
)
from infra.local.gateway.pool import Pool


class _Environment:
    """Answers when the test says so."""

    made: list[_Environment]
    broken: bool

    def __init__(self, spec: FunctionSpec):
        self.spec = spec
        self.alive = False
        self.calls: list[Any] = []
        self.current: asyncio.Future[Any] | None = None
        self.made.append(self)

    async def start(self) -> None:
        if self.broken:
            raise FunctionError("ImportError", "no such module")
        self.alive = True

    def call(self, request_id: str, deadline_ms: int, event: bytes) -> Invocation:
        assert self.current is None or self.current.done(), "two calls at once"
        self.calls.append(json.loads(event))
        self.current = asyncio.get_running_loop().create_future()
        return Invocation(self.current, self.current)

    def answer(self, reply: Any = "ok") -> None:
        assert self.current is not None
        self.current.set_result(reply)

    def end(self, failure: FunctionError | None = None) -> None:
        self.alive = False
        if self.current and not self.current.done():
            self.current.set_exception(failure or FunctionError("Runtime.ExitError", "ended"))


def _run(
    test: Callable[[Pool, list[Any]], Awaitable[None]], *, broken: bool = False, **options: Any
) -> None:
    made: list[Any] = []
    kind = type("Environment", (_Environment,), {"made": made, "broken": broken})
    options.pop("see", lambda _: None)(kind)
    spec = FunctionSpec("f", "f.handler", {}, options.pop("timeout_s", 30.0), 128, Path(), Path())

    async def main() -> None:
        pool = Pool(spec, kind, **options)
        await asyncio.wait_for(test(pool, made), 20)
        await pool.close()

    asyncio.run(main())


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


def test_one_environment_serves_one_call_after_the_other() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        for number in range(3):
            call = asyncio.create_task(pool.invoke({"n": number}))
            await _until(lambda n=number: bool(made) and len(made[0].calls) == n + 1)
            made[0].answer(number)
            assert await call == number
        assert len(made) == 1

    _run(test)


@pytest.mark.promise("R-25")
def test_waiting_calls_make_the_pool_grow_to_its_limit_and_no_further() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        calls = [asyncio.create_task(pool.invoke({"n": n})) for n in range(6)]
        await _until(lambda: len(made) == 2 and all(one.calls for one in made))
        while not all(call.done() for call in calls):
            for one in made:
                if one.current and not one.current.done():
                    one.answer()
            await asyncio.sleep(0.005)
        assert [call.result() for call in calls] == ["ok"] * 6
        assert len(made) == 2

    _run(test, most=2)


@pytest.mark.promise("P4-stream")
def test_a_crowd_makes_the_pool_start_several_at_once_and_no_more_than_that() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        gate = asyncio.Event()
        most_starting: list[int] = []

        async def start(environment: Any) -> None:
            most_starting.append(sum(not one.alive for one in made))
            await gate.wait()
            environment.alive = True

        pool_kind.start = start
        calls = [asyncio.create_task(pool.invoke({"n": n})) for n in range(7)]
        await _until(lambda: len(made) == 3)
        gate.set()
        await _until(lambda: len(made) == 7 and all(one.calls for one in made))
        for one in made:
            one.answer()
        assert await asyncio.gather(*calls) == ["ok"] * 7
        assert max(most_starting) == 3

    pool_kind: Any = None

    def take(kind: Any) -> None:
        nonlocal pool_kind
        pool_kind = kind

    _run(test, most=7, at_once=3, see=take)


def test_environments_that_nobody_needs_are_ended_but_for_one() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        calls = [asyncio.create_task(pool.invoke({"n": n})) for n in range(3)]
        await _until(lambda: len(made) == 3 and all(one.calls for one in made))
        busy, *others = made
        for one in others:
            one.answer()
        await _until(lambda: not any(one.alive for one in others))
        busy.answer()
        assert await asyncio.gather(*calls) == ["ok"] * 3
        again = asyncio.create_task(pool.invoke({}))
        await _until(lambda: len(busy.calls) == 2)
        busy.answer("still there")
        assert await again == "still there"
        assert (pool.size, len(made)) == (1, 3)

    _run(test, most=3, at_once=3, idle_s=0.05)


def test_a_call_that_outlives_the_gateway_runs_on_and_frees_its_environment() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        with pytest.raises(IntegrationTimeout):
            await pool.invoke({}, limit_s=0.05)
        assert made[0].alive
        made[0].answer("late, to nobody")
        call = asyncio.create_task(pool.invoke({"second": True}))
        await _until(lambda: len(made[0].calls) == 2)
        made[0].answer("in time")
        assert await call == "in time"

    _run(test)


def test_a_function_past_its_own_timeout_is_killed_and_replaced() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        with pytest.raises(FunctionError, match=r"Task timed out after 0\.05 seconds"):
            await pool.invoke({})
        assert not made[0].alive
        call = asyncio.create_task(pool.invoke({}))
        await _until(lambda: len(made) == 2 and bool(made[1].calls))
        made[1].answer()
        assert await call == "ok"

    _run(test, timeout_s=0.05)


def test_a_death_in_the_middle_of_a_call_lets_the_next_waiting_call_have_a_new_one() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        first = asyncio.create_task(pool.invoke({"n": 1}))
        second = asyncio.create_task(pool.invoke({"n": 2}))
        await _until(lambda: bool(made) and bool(made[0].calls))
        made[0].end()
        with pytest.raises(FunctionError, match=r"Runtime\.ExitError"):
            await first
        await _until(lambda: len(made) == 2 and bool(made[1].calls))
        made[1].answer("two")
        assert await second == "two"

    _run(test, most=1)


def test_a_function_that_cannot_start_fails_its_callers_and_is_tried_again() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        for _ in range(2):
            with pytest.raises(FunctionError, match="no such module"):
                await pool.invoke({})
        assert len(made) == 2

    _run(test, broken=True)


def test_an_event_over_lambdas_limit_never_reaches_the_function() -> None:
    async def test(pool: Pool, made: list[Any]) -> None:
        with pytest.raises(PayloadTooLarge):
            await pool.invoke({"body": "x" * MAX_PAYLOAD_BYTES})
        assert made == []

    _run(test)
