"""What a deployment must do, asked over HTTP: keys, profile, MCP, rounds, preferences, erasure.

Each step is a method whose docstring says what it shows; they run in order and share one owner.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx

from infra.gateway_responses import gateway_response
from infra.local.waiting import wait_for
from judgment.contract.profile import AgentProfile, cold_start

if TYPE_CHECKING:
    from infra.local.issuer import LocalIssuer

PROFILE = "/api/agent/v1/profile"
PREFERENCES = "/api/agent/v1/preferences"
SUMMARY_SECONDS = 120.0
COMPILED_SECONDS = 120.0
MODERN_ERA = "2026-07-28"


class SmokeFailed(AssertionError):
    """An answer is not what the deployment promises; the message holds both."""


@dataclass
class Smoke:
    """One owner's first hour with a deployment."""

    client: httpx.Client
    issuer: LocalIssuer
    owner: UUID
    token: str
    key: str = ""
    key_id: str = ""

    @classmethod
    def begin(cls, client: httpx.Client, issuer: LocalIssuer) -> Smoke:
        """A new owner with a token."""
        owner = uuid4()
        return cls(client, issuer, owner, issuer.token(owner))

    def run(self) -> list[str]:
        """Every step in order; what each showed. Raises SmokeFailed at the first that does not."""
        steps = (
            self.answers_without_a_key,
            self.refuses_in_one_voice,
            self.mints_a_key,
            self.serves_the_profile,
            self.serves_it_over_mcp,
            self.keeps_personal_context,
            self.plays_a_round,
            self.keeps_preferences,
            self.takes_messages,
            self.obeys_the_owners_switch,
            self.keeps_admin_routes_for_admins,
            self.exports,
            self.forgets_a_revoked_key,
            self.erases,
        )
        shown: list[str] = []
        for step in steps:
            step()
            shown.append((step.__doc__ or "").strip())
        return shown

    def answers_without_a_key(self) -> None:
        """Health and the skill are open; an unknown path is 404 in our form."""
        self._expect(self.client.get("/health"), 200)
        skill = self._expect(self.client.get("/skills/sync-skill-v1.md"), 200)
        _same(skill.text[:4], "---\n")
        _same(self._expect(self.client.get("/nothing/here"), 404).json()["code"], "not_found")

    def refuses_in_one_voice(self) -> None:
        """No key, a malformed, an unknown one and an owner's token: one 401, to the byte."""
        row = gateway_response("UNAUTHORIZED")
        credentials = (None, "Bearer", "Bearer sync_x", f"Bearer sync_{'a' * 43}")
        for credential in (*credentials, f"Bearer {self.token}"):
            headers = {"Authorization": credential} if credential else {}
            answer = self._expect(self.client.get(PROFILE, headers=headers), 401)
            _same(answer.text, row.body)
            _same(answer.headers.get("www-authenticate"), 'Bearer realm="sync"')

    def mints_a_key(self) -> None:
        """An owner mints a key and sees its plaintext once."""
        minted = self._expect(self._owner("POST", "/api/v1/keys", {"name": "smoke"}), 201).json()
        self.key, self.key_id = minted["key"], minted["id"]
        [listed] = self._expect(self._owner("GET", "/api/v1/keys"), 200).json()["keys"]
        _same((listed["id"], "key" in listed), (self.key_id, False))

    def serves_the_profile(self) -> None:
        """The key reads a cold-start profile, field for field, and no decisions."""
        profile = AgentProfile.model_validate_json(self._expect(self._agent(PROFILE), 200).text)
        _same(profile, cold_start(self.owner, profile.sync_score))
        recent = self._expect(self._agent(f"{PROFILE}/recent-decisions?limit=5"), 200)
        _same(recent.json()["decisions"], [])
        _same(
            self._expect(self._agent(f"{PROFILE}/recent-decisions?limit=0"), 400).status_code, 400
        )

    def serves_it_over_mcp(self) -> None:
        """The MCP tool gives what REST gives."""
        result = self._tool("sync.get_profile")
        _same(result.get("structuredContent", result), self._agent(PROFILE).json())
        _same(self.client.get("/mcp").status_code, 405)

    def keeps_personal_context(self) -> None:
        """Personal context is written, read and emptied; without it no personal round is made."""
        path = "/api/v1/personal-context"
        self._expect(self._owner("PUT", path, {"personal_context": "I keep bees."}), 200)
        _same(
            self._expect(self._owner("GET", path), 200).json()["personal_context"], "I keep bees."
        )
        self._expect(self._owner("PUT", path, {"personal_context": ""}), 200)
        refused = self._expect(self._owner("POST", "/api/v1/scenarios/personal"), 400)
        _same(refused.json()["code"], "invalid_request")

    def plays_a_round(self) -> None:
        """A round is served and decided; the profile has it, and the summary follows by itself."""
        scenario = self._expect(self._owner("GET", "/api/v1/scenarios/next"), 200).json()
        choice = {"scenario_id": scenario["id"], "option_id": scenario["options"][0]["id"]}
        recorded = self._expect(self._owner("POST", "/api/v1/decisions", choice), 201).json()
        _same(recorded["games_played"], 1)
        self._expect(self._owner("POST", "/api/v1/decisions", choice), 409)
        if not wait_for(self._has_summary, SUMMARY_SECONDS, 0.5):
            raise SmokeFailed("the summary did not follow the decision")
        _same(self._agent(PROFILE).json()["summary_model_version"], "composer-1")

    def keeps_preferences(self) -> None:
        """A captured preference is compiled by its queue, read by REST and MCP, and ledgered."""
        scopes = ["profile:read", "preferences:read", "preferences:write"]
        minted = self._owner("POST", "/api/v1/keys", {"name": "wants", "scopes": scopes})
        with_scopes = self._expect(minted, 201).json()["key"]
        wanted = {"key": "editor.indent", "value": "tabs", "strength": 0.8}
        said = {"signals": [{**wanted, "source": {"platform": "smoke"}}]}
        self._expect(self._agent(f"{PREFERENCES}/signals", with_scopes, said), 201)
        if not wait_for(lambda: self._wants(with_scopes) == ["tabs"], COMPILED_SECONDS, 0.5):
            raise SmokeFailed("the document did not follow the capture")
        [entry] = self._tool("prefs.get", with_scopes)["structuredContent"]["entries"]
        _same(entry["value"], "tabs")
        self._expect(self._agent(PREFERENCES), 403)
        ledger = "/api/v1/preferences/ledger"
        lines = self._expect(self._owner("GET", ledger), 200).json()["entries"]
        _same((len(lines) >= 2, lines[0]["audience"]), (True, "self"))
        verified = self._expect(self._owner("GET", f"{ledger}/verification"), 200)
        _same(verified.json()["intact"], True)

    def takes_messages(self) -> None:
        """Without a model a message is refused in the gateway's form, and nothing is kept of it."""
        said = {"content": "Hello", "metadata": {"client": "web"}}
        refused = self._expect(self._owner("POST", "/message", said), 503).json()
        _same((list(refused), "MODEL_MESSAGE" in refused["error"]), (["error"], True))
        wrong = self._expect(self._owner("POST", "/message", {"content": 1}), 400)
        _same(wrong.json(), {"error": "Invalid request"})
        listed = self._expect(self._owner("GET", "/conversations"), 200).json()
        _same(listed["conversations"], [])

    def obeys_the_owners_switch(self) -> None:
        """Switched off by the owner, the next REST and MCP call refuse; switched on, they serve."""
        self._expect(self._owner("PUT", "/api/v1/agent-access", {"enabled": False}), 200)
        refused = self._expect(self._agent(PROFILE), 403)
        _same(refused.json()["code"], "profile_access_disabled")
        _same(self._tool("sync.get_profile").get("isError"), True)
        self._expect(self._owner("PUT", "/api/v1/agent-access", {"enabled": True}), 200)
        self._expect(self._agent(PROFILE), 200)

    def keeps_admin_routes_for_admins(self) -> None:
        """The kill switch is readable by an admin and forbidden to an owner."""
        flags = "/api/admin/v1/flags"
        _same(self._expect(self._owner("GET", flags), 403).json()["code"], "forbidden")
        admin = self.issuer.token(uuid4(), admin=True)
        self._expect(self.client.get(flags, headers={"Authorization": f"Bearer {admin}"}), 200)

    def exports(self) -> None:
        """The export is lines of JSON and holds the key, without its secret."""
        exported = self._expect(self._owner("GET", "/api/v1/account/export"), 200).text
        tables = {str(json.loads(line).get("table")) for line in exported.splitlines() if line}
        _same([name for name in tables if name.endswith("agent_api_keys")] != [], True)
        _same(self.key in exported, False)

    def forgets_a_revoked_key(self) -> None:
        """A revoked key is refused on its next request."""
        self._expect(self._owner("DELETE", f"/api/v1/keys/{self.key_id}"), 200)
        self._expect(self._agent(PROFILE), 401)

    def erases(self) -> None:
        """An erased owner has no keys left."""
        self._expect(self._owner("DELETE", "/api/v1/account"), 204)
        _same(self._expect(self._owner("GET", "/api/v1/keys"), 200).json()["keys"], [])

    def _has_summary(self) -> bool:
        return self._agent(PROFILE).json()["summary_generated_at"] is not None

    def _owner(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.client.request(method, path, json=body, headers=headers)

    def _wants(self, key: str) -> list[object]:
        read = self._expect(self._agent(PREFERENCES, key), 200).json()
        return [entry["value"] for entry in read["entries"]]

    def _agent(
        self, path: str, key: str | None = None, body: dict[str, Any] | None = None
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return self.client.request("POST" if body else "GET", path, json=body, headers=headers)

    def _tool(self, name: str, key: str | None = None) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN_ERA,
            "io.modelcontextprotocol/clientInfo": {"name": "smoke", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": {}, "_meta": meta},
        }
        headers = {
            "Authorization": f"Bearer {key or self.key}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN_ERA,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        answer = self._expect(self.client.post("/mcp", json=call, headers=headers), 200).json()
        return answer.get("result", answer)

    def _expect(self, answer: httpx.Response, status: int) -> httpx.Response:
        if answer.status_code != status:
            asked = f"{answer.request.method} {answer.request.url.path}"
            raise SmokeFailed(
                f"{asked}: {answer.status_code} instead of {status}: {answer.text[:800]}"
            )
        return answer


def _same(found: object, wanted: object) -> None:
    if found != wanted:
        raise SmokeFailed(f"found {found!r}, wanted {wanted!r}")
