"""The running stack's front door, through real HTTP, worker processes and the real authorizer."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack


@pytest.mark.promise("P1-9")
def test_stack_json_holds_what_tests_and_scripts_need(stack: RunningStack) -> None:
    shown = json.loads(stack.places.stack_file.read_text())
    assert set(shown) == {
        *("api_url", "mcp_url", "console_url", "database_url", "aws_endpoint_url"),
        *("admin_token", "owners"),
    }
    assert set(shown["owners"]) == {"demo", "cold", "disabled"}
    for owner in shown["owners"].values():
        assert set(owner) == {"user_id", "owner_token", "agent_key"}
    for private in (stack.places.stack_file, stack.places.keys, stack.places.gateway):
        assert private.stat().st_mode & 0o077 == 0


def test_the_stack_listens_on_this_machine_alone(stack: RunningStack) -> None:
    ports = json.loads(stack.places.ports.read_text())
    outside = _address_of_this_machine()
    for name, port in ports.items():
        assert _connects("127.0.0.1", port), name
        assert outside is None or not _connects(outside, port), name


def _address_of_this_machine() -> str | None:
    """An address other machines would use; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = probe.getsockname()[0]
    return None if found.startswith("127.") else found


def _connects(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex((host, port)) == 0


@pytest.mark.promise("R-19", "P1-refuse-credentials")
@pytest.mark.parametrize("path", ["/api/agent/v1/profile", "/api/v1/keys", "/api/admin/v1/flags"])
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer sync_" + "x" * 43}],
    ids=["none", "scheme", "unknown"],
)
def test_a_missing_or_wrong_credential_is_the_one_401(
    api: httpx.Client, path: str, headers: dict[str, str]
) -> None:
    answer = api.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.json() == {
        "code": "unauthorized",
        "error": "Unauthorized",
        "message": "Missing or invalid Sync API key. Send header: Authorization: Bearer <key>",
    }
    assert answer.headers["www-authenticate"] == 'Bearer realm="sync"'


@pytest.mark.promise("R-19", "P1-refuse-credentials")
def test_the_wrong_kind_of_credential_is_401_on_either_side(
    stack: RunningStack, api: httpx.Client
) -> None:
    demo = stack.owners["demo"]
    assert api.get("/api/agent/v1/profile", headers=demo.headers).status_code == 401
    assert api.get("/api/v1/keys", headers=demo.agent).status_code == 401
    assert api.get("/api/agent/v1/profile", headers=demo.agent).status_code == 200
    assert api.get("/api/v1/keys", headers=demo.headers).status_code == 200


@pytest.mark.promise("R-27", "P1-refuse-input")
def test_who_asks_and_where_is_never_what_a_client_claims(
    stack: RunningStack, api: httpx.Client
) -> None:
    demo = stack.owners["demo"]
    claims = {"X-User-Id": "someone-else", "Host": "evil.example", **demo.agent}
    answer = api.get("/api/agent/v1/profile", headers=claims)
    assert answer.json()["user_id"] == str(demo.user_id)
    seen = api.get("/probe/echo", headers=claims).json()["event"]
    assert seen["requestContext"]["domainName"] == urlsplit(stack.api_url).netloc
    assert "authorizer" not in seen["requestContext"]


@pytest.mark.promise("P1-9")
def test_an_error_of_a_door_is_500_in_our_form_and_says_nothing_of_its_cause(
    api: httpx.Client,
) -> None:
    for deed in ("raise", "malformed", "exit"):
        answer = api.get("/probe/echo", params={"do": deed})
        assert answer.status_code == 500
        assert answer.json()["code"] == "internal_error"
        assert "secret-detail" not in answer.text


@pytest.mark.promise("000-4")
def test_unknown_routes_and_methods_are_404_in_our_form(api: httpx.Client) -> None:
    for method, path in (("GET", "/no/such"), ("DELETE", "/health"), ("GET", "/api/agent/v2/x")):
        answer = api.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.promise("P1-measure")
def test_sixteen_clients_at_once_read_without_an_error(stack: RunningStack) -> None:
    cold = stack.owners["cold"]

    def read(_: int) -> list[int]:
        with httpx.Client(base_url=stack.api_url, timeout=30, headers=cold.agent) as client:
            return [client.get("/api/agent/v1/profile").status_code for _ in range(20)]

    with ThreadPoolExecutor(16) as clients:
        statuses = [status for found in clients.map(read, range(16)) for status in found]
    assert statuses == [200] * 320


@pytest.mark.promise("P1-9")
def test_an_agents_read_leaves_one_wire_line_without_its_key(
    stack: RunningStack, api: httpx.Client
) -> None:
    cold = stack.owners["cold"]
    answer = api.get("/api/agent/v1/profile", headers=cold.agent)
    request_id = answer.headers["x-amzn-requestid"]
    lines = [line for line in stack.wire_lines() if line["request_id"] == request_id]
    assert len(lines) == 1
    assert lines[0]["user_id"] == str(cold.user_id)
    assert lines[0]["path"] == "/api/agent/v1/profile"
    assert lines[0]["status"] == str(answer.status_code)
    assert lines[0]["via"] == "direct"
    assert cold.agent_key.startswith(lines[0]["key_prefix"])
    assert cold.agent_key not in stack.places.wire_log.read_text()
