"""A new owner of the running stack, who plays and whose agent reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from infra.local.waiting import wait_for
from tests.e2e.running import SCRIPTED

if TYPE_CHECKING:
    import httpx

    from tests.e2e.running import RunningStack

PROFILE = "/api/agent/v1/profile"
FOLLOWS_SECONDS = 60.0
POLL_SECONDS = 0.25
MODERN_ERA = "2026-07-28"


class Somebody:
    """An owner with a client and an agent key of their own."""

    def __init__(self, stack: RunningStack, api: httpx.Client):
        self.api = api
        self.user_id = uuid4()
        self.token = stack.issuer.token(self.user_id)
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.minted = self.mint()
        self.agent = {"Authorization": f"Bearer {self.minted['key']}"}

    def mint(self, **body: Any) -> dict[str, Any]:
        """A new agent key."""
        return self.ask("POST", "/api/v1/keys", {"name": "k", **body}, 201)

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The JSON of an owner's call that is answered as expected."""
        answer = self.api.request(method, path, json=body, headers=self.headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    def lists_keys(self, token: str) -> tuple[int, str | None]:
        """Status and code of listing keys with that token."""
        headers = {"Authorization": f"Bearer {token}"}
        answer = self.api.get("/api/v1/keys", headers=headers)
        return answer.status_code, answer.json().get("code")

    def reads(self) -> tuple[int, str | None]:
        """Status and code of the agent's read."""
        answer = self.api.get(PROFILE, headers=self.agent)
        return answer.status_code, answer.json().get("code")

    def profile(self) -> dict[str, Any]:
        """What the agent reads over REST."""
        answer = self.api.get(PROFILE, headers=self.agent)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def profile_over_mcp(self) -> dict[str, Any]:
        """What the agent reads with the tool."""
        name = "sync.get_profile"
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN_ERA,
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": name, "arguments": {}, "_meta": meta}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            **self.agent,
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN_ERA,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        answer = self.api.post("/mcp", json=call, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]["structuredContent"]

    def next_round(self, theme: str | None = None) -> dict[str, Any]:
        """The round to play."""
        query = f"?theme={theme}" if theme else ""
        return self.ask("GET", f"/api/v1/scenarios/next{query}")

    def decides(self, scenario: dict[str, Any], option: int = 0, **more: Any) -> dict[str, Any]:
        """The answer to a decision for that option."""
        body = {"scenario_id": scenario["id"], "option_id": scenario["options"][option]["id"]}
        return self.ask("POST", "/api/v1/decisions", {**body, **more}, 201)

    def chooses_the_scripted_model(self, *roles: str) -> None:
        """From now on the tests' own provider plays these roles."""
        provider, _, model = SCRIPTED.partition(":")
        chosen = [{"role": role, "provider": provider, "model": model} for role in roles]
        self.ask("PUT", "/api/v1/models", {"models": chosen})

    def awaits_summary_of(self, games: int, seconds: float = FOLLOWS_SECONDS) -> dict[str, Any]:
        """The profile, once its summary was drawn from so many decisions and none is due."""

        found: dict[str, Any] = {}

        def fresh() -> bool:
            found.update(self.profile())
            is_kept = found["summary_generated_at"] is not None and not found["summary_stale"]
            return is_kept and found["summary_games_analyzed"] == games

        # Reads are counted, 600 an hour.
        assert wait_for(fresh, seconds, POLL_SECONDS), f"no summary of {games}: {found}"
        return found
