"""The gateway over real worker processes, in this process: what a client sees of each failure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.checkout import ROOT
from infra.local.gateway.app import Gateway, Rules
from infra.local.gateway.config import GatewayConfig
from infra.local.gateway.doors import Doors
from infra.local.gateway.routing import Router
from judgment.contract.routes import Route
from judgment.kit.clock import utc_now
from tests.probe.catalogue import CATALOGUE

Use = Callable[[httpx.AsyncClient], Awaitable[None]]
_AGENT_ROUTE = Route("GET", "/api/agent/v1/probe", "probe_echo", "agent", "As an agent.")


def _config(folder: Path, **changes: Any) -> GatewayConfig:
    config = GatewayConfig(
        port=0,
        issuer_port=0,
        issuer_url="",
        issuer_file="",
        host_port="probe.test",
        checkout=str(ROOT),
        logs=str(folder),
        wire_log=str(folder / "wire.jsonl"),
        environments={door.name: {"PATH": "/usr/bin:/bin"} for door in CATALOGUE.doors},
        queues={},
        aws={},
    )
    return replace(config, **changes)


def _serve(folder: Path, use: Use, *, seconds: float = 20.0) -> list[dict[str, str]]:
    """Run `use` against a gateway over the probe's doors; the wire log it wrote."""
    lines: list[str] = []

    async def main() -> None:
        catalogue = replace(CATALOGUE, routes=(*CATALOGUE.routes, _AGENT_ROUTE))
        doors = Doors(catalogue, _config(folder))
        rules = Rules("probe.test", authorizer="probe_authorizer", integration_seconds=seconds)
        gateway = Gateway(
            Router(catalogue.routes), doors, rules, clock=utc_now, wire_log=lines.append
        )
        transport = httpx.ASGITransport(gateway)
        async with httpx.AsyncClient(transport=transport, base_url="http://probe.test") as client:
            await use(client)
        await doors.close()

    asyncio.run(main())
    return [json.loads(line) for line in lines]


@pytest.mark.promise("P1-9", "000-4")
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/probe/echo?do=raise", 500, "internal_error"),
        ("/probe/echo?do=exit", 500, "internal_error"),
        ("/probe/echo?do=malformed", 500, "internal_error"),
        ("/probe/echo?do=big:6400000", 500, "internal_error"),
        ("/api/agent/v1/probe", 401, "unauthorized"),
        ("/nowhere", 404, "not_found"),
    ],
)
def test_every_failure_answers_in_the_contracts_form(
    tmp_path: Path, path: str, status: int, code: str
) -> None:
    async def use(client: httpx.AsyncClient) -> None:
        answer = await client.get(path)
        assert answer.status_code == status
        assert answer.json()["code"] == code
        assert answer.headers["content-type"] == "application/json"
        assert "secret-detail" not in answer.text

    _serve(tmp_path, use)


@pytest.mark.promise("R-20")
def test_a_door_that_takes_too_long_is_503_and_the_next_call_is_served(tmp_path: Path) -> None:
    async def use(client: httpx.AsyncClient) -> None:
        assert (await client.get("/probe/echo")).status_code == 200
        late = await client.get("/probe/echo?do=sleep:2")
        assert (late.status_code, late.json()["code"]) == (503, "unavailable")
        assert (await client.get("/probe/echo")).status_code == 200

    _serve(tmp_path, use, seconds=1.5)


@pytest.mark.promise("P1-refuse-input")
def test_what_is_too_large_is_413_before_any_door_sees_it(tmp_path: Path) -> None:
    async def use(client: httpx.AsyncClient) -> None:
        over_the_gateway = await client.post("/probe/echo", content=b"x" * (10 * 1024 * 1024 + 1))
        over_lambda = await client.post("/probe/echo", content=b"x" * (6 * 1024 * 1024))
        headers = await client.get("/probe/echo", headers={"X-Long": "y" * 10_240})
        for answer in (over_the_gateway, over_lambda, headers):
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large")

    _serve(tmp_path, use)


def test_a_door_has_the_environment_of_its_row_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a secret of the machine")

    async def use(client: httpx.AsyncClient) -> None:
        seen = (await client.get("/probe/echo?do=environ")).json()
        assert seen["_HANDLER"] == "tests.probe.echo.handler"
        assert seen["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] == "128"
        assert "OPENAI_API_KEY" not in seen
        assert not {name for name in seen if name.startswith("PYTEST")}

    _serve(tmp_path, use)


@pytest.mark.promise("P1-9")
def test_agent_routes_leave_a_wire_line_without_the_credential(tmp_path: Path) -> None:
    async def use(client: httpx.AsyncClient) -> None:
        headers = {"Authorization": "Bearer good", "X-Judgment-Via": "mcp"}
        answer = await client.get("/api/agent/v1/probe?secret=1", headers=headers)
        assert answer.status_code == 200
        seen = answer.json()["event"]["requestContext"]["authorizer"]
        assert seen["user_id"] == "probe-user"
        await client.get("/api/agent/v1/probe")
        await client.get("/probe/echo")

    served, refused = _serve(tmp_path, use)
    assert (served["user_id"], served["key_prefix"]) == ("probe-user", "sync_probe")
    assert (served["path"], served["status"], served["via"]) == (
        "/api/agent/v1/probe",
        "200",
        "mcp",
    )
    assert int(served["milliseconds"]) >= 0
    assert (refused["status"], refused["user_id"]) == ("401", "-")
    assert "good" not in json.dumps(served)
    assert "secret" not in json.dumps(served)


def test_half_a_request_reaches_no_door(tmp_path: Path) -> None:
    async def main() -> list[dict[str, Any]]:
        doors = Doors(CATALOGUE, _config(tmp_path))
        gateway = Gateway(
            Router(CATALOGUE.routes), doors, Rules("probe.test"), clock=utc_now, wire_log=print
        )
        parts = iter(
            [
                {"type": "http.request", "body": b'{"half":', "more_body": True},
                {"type": "http.disconnect"},
            ]
        )
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return next(parts)

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "raw_path": b"/probe/echo"}
        await gateway({**scope, "headers": [], "query_string": b""}, receive, send)
        await doors.close()
        return sent

    assert asyncio.run(main()) == []
    assert not (tmp_path / "probe_echo.log").exists()


def test_sixteen_clients_at_once_are_all_served(tmp_path: Path) -> None:
    async def use(client: httpx.AsyncClient) -> None:
        answers = await asyncio.gather(
            *(client.get("/probe/echo", params={"n": n}) for n in range(160))
        )
        assert {answer.status_code for answer in answers} == {200}
        echoed = [a.json()["event"]["queryStringParameters"]["n"] for a in answers]
        assert echoed == [str(n) for n in range(160)]

    _serve(tmp_path, use)
