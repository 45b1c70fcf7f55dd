"""Our REST API as the MCP door sees it, without a network: answers given, requests kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult

import httpx2

from judgment.contract.profile import cold_start
from judgment.kit.ids import parse_uuid

OWNER = parse_uuid("7b0c4a56-6f0e-4a39-9d0e-1f6f0a4b2c11")
assert OWNER is not None

DECISION = {
    "scenario_id": "0b0f5f0e-6f0e-4a39-9d0e-1f6f0a4b2c22",
    "scenario_title": "Electricity contract 3 of 12",
    "category": "resource-allocation",
    "theme": "custom",
    "chosen_label": "Fixed 7 cents, no commitment, local supplier",
    "rationale": None,
    "recorded_at": "2026-01-01T00:03:00Z",
}


def trained_profile() -> dict[str, Any]:
    """A profile as REST serves it, with every field of the contract used at least once."""
    return {
        **cold_start(OWNER).model_dump(mode="json"),
        "sync_score": 41.5,
        "games_played": 12,
        "model_confidence": 0.43,
        "signals": [
            {
                "signal": "occasion_noise",
                "description": "How much the same question gets different answers.",
                "state": "developing",
                "one_line": "Chooses alike when asked alike, in 5 of 6 repeats.",
            }
        ],
        "category_tendencies": [
            {
                "category": "resource-allocation",
                "primary_driver": "price",
                "secondary_drivers": ["local supplier"],
                "risk_tolerance": "medium",
                "decision_speed": "balanced",
                "games_in_category": 12,
                "recent_trend": None,
            }
        ],
        "summary_text": "Weighs price first; pays more for a local supplier: “näher ist besser”.",
        "summary_generated_at": "2026-01-01T00:12:00Z",
        "summary_model_version": "composer-1",
        "agent_context_block": "## How this person decides\nPrice first, then a local supplier.",
    }


class FakeRest:
    """Answers GETs; `answers` maps a path to (status, JSON body), `fail` raises instead."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []
        self.answers: dict[str, tuple[int, Any]] = {
            "/api/agent/v1/profile": (200, trained_profile()),
            "/api/agent/v1/profile/recent-decisions": (200, {"decisions": [DECISION]}),
        }
        self.fail: list[Exception] = []

    def connect(self, where: SplitResult) -> Any:
        """A connection whose requests come here; see `functions.mcp.rest.connected`."""
        return _FakeConnection(f"{where.scheme}://{where.netloc}", self._answer)

    def refuse(self, status: int, body: Any) -> None:
        """Every route answers this from now on."""
        self.answers = dict.fromkeys(self.answers, (status, body))

    @property
    def last(self) -> httpx2.Request:
        """The latest request received."""
        return self.requests[-1]

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.fail:
            raise self.fail.pop(0)
        status, body = self.answers[request.url.path]
        content = body if isinstance(body, bytes) else json.dumps(body, indent=1).encode()
        return httpx2.Response(status, content=content)


class _FakeConnection:
    """The part of an HTTP connection that the door uses."""

    def __init__(self, origin: str, answer: Callable[[httpx2.Request], httpx2.Response]):
        self._origin = origin
        self._answer = answer
        self._response: _FakeResponse | None = None
        self.closed = False

    def request(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> None:
        """Ask; a failure set for this request is raised here."""
        assert not self.closed
        url = self._origin + target
        request = httpx2.Request(method, url, headers=dict(headers), content=body)
        self._response = _FakeResponse(self._answer(request))

    def getresponse(self) -> _FakeResponse:
        """The answer to the latest request."""
        assert self._response is not None
        return self._response

    def close(self) -> None:
        """No request comes after it."""
        self.closed = True


class _FakeResponse:
    def __init__(self, response: httpx2.Response):
        self.status = response.status_code
        self._body = response.content

    def read(self) -> bytes:
        return self._body
