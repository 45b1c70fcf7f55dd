"""Preferences on the running stack: captured, compiled, read by consent, decided with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from infra.local.waiting import wait_for
from tests.e2e.somebody import FOLLOWS_SECONDS, POLL_SECONDS, Somebody

if TYPE_CHECKING:
    import httpx

    from tests.e2e.running import RunningStack

AGENT, OWNER = "/api/agent/v1/preferences", "/api/v1/preferences"
SCOPES = ["profile:read", "preferences:read", "preferences:write"]


def signal(key: str, strength: float, value: Any = True, **more: Any) -> dict[str, Any]:
    """A statement as an agent sends it."""
    return {
        "key": key,
        "value": value,
        "strength": strength,
        "source": {"platform": "codex", "session": "s-1"},
        **more,
    }


class Wanting(Somebody):
    """An owner whose agent may read and capture preferences."""

    def __init__(self, stack: RunningStack, api: httpx.Client):
        super().__init__(stack, api)
        self.agent = {"Authorization": f"Bearer {self.mint(scopes=SCOPES)['key']}"}

    def tell(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The JSON of the agent's call that is answered as expected."""
        answer = self.api.request(method, AGENT + path, json=body, headers=self.agent)
        assert answer.status_code == status, answer.text
        return answer.json()

    def says(self, *signals: dict[str, Any]) -> list[dict[str, Any]]:
        """The agent captures, and the documents follow by themselves."""
        kept = self.tell("POST", "/signals", {"signals": list(signals)}, 201)["signals"]
        compiled = wait_for(
            lambda: self.ask("GET", OWNER)["pending"] == 0, FOLLOWS_SECONDS, POLL_SECONDS
        )
        assert compiled, "the documents did not follow"
        return kept

    def wants(self, query: str = "") -> dict[str, Any]:
        """What the agent reads, by key."""
        return {entry["key"]: entry for entry in self.tell("GET", query)["entries"]}

    def ledger(self) -> list[dict[str, Any]]:
        """The owner's ledger, newest first."""
        return self.ask("GET", f"{OWNER}/ledger")["entries"]


@pytest.fixture
def me(stack: RunningStack, api: httpx.Client) -> Wanting:
    return Wanting(stack, api)


@pytest.fixture
def other(stack: RunningStack, api: httpx.Client) -> Wanting:
    return Wanting(stack, api)


@pytest.mark.promise("P3-hosted", "001-signals", "001-compile", "001-tier-2")
def test_what_an_agent_captures_is_what_the_next_one_reads(me: Wanting) -> None:
    me.says(
        signal("editor.indent", 0.9, "tabs"),
        signal("editor.indent", 0.4, "spaces", source={"platform": "codex", "sequence": 1}),
        signal("editor.theme", -0.8, "light", scope="platform:codex"),
    )
    assert me.wants()["editor.indent"]["value"] == "spaces"
    assert "editor.theme" not in me.wants()
    assert me.wants("?platform=codex")["editor.theme"]["weight"] == pytest.approx(-0.8, abs=1e-3)
    why = me.tell("GET", "/why?key=editor.indent")
    assert why["candidates"][0]["verdict"] == "wins"
    assert len(why["candidates"]) == 2
    block = me.tell("GET", "/block?platform=codex")
    assert "editor.indent" in block["text"]
    assert block["characters"] == len(block["text"])


@pytest.mark.promise("P3-ledger", "R-16", "001-ledger")
def test_every_read_of_an_own_agent_is_in_the_ledger_and_the_chain_holds(me: Wanting) -> None:
    me.says(signal("dining.cuisine.thai", 0.8))
    before = len(me.ledger())
    me.wants()
    me.tell("GET", "/why?key=dining.cuisine.thai")
    lines = me.ledger()
    assert len(lines) == before + 2
    assert {line["audience"] for line in lines} == {"self"}
    assert lines[0]["keys"] == ["dining.cuisine.thai"]
    verified = me.ask("GET", f"{OWNER}/ledger/verification")
    assert verified["intact"] is True
    assert verified["length"] == len(lines)


@pytest.mark.promise("P3-consent", "P3-hosted-group", "001-consent")
def test_another_owner_is_heard_only_by_consent_and_a_revocation_holds_at_once(
    me: Wanting, other: Wanting
) -> None:
    me.says(signal("dining.cuisine.thai", 0.8), signal("dining.cuisine.bbq", 0.2))
    other.says(signal("dining.cuisine.bbq", 0.9), signal("health.notes", 0.5, "private"))
    decision = {
        "options": [
            {"id": "thai-spot", "keys": ["dining.cuisine.thai"]},
            {"id": "bbq-barn", "keys": ["dining.cuisine.bbq"]},
        ],
        "participants": [{"self": True}, {"owner": str(other.user_id)}],
        "words": True,
    }
    alone = me.tell("POST", "/solve", decision)
    assert alone["without_consent"] == [str(other.user_id)]
    assert alone["ranking"][0]["option"] == "thai-spot"

    grant = {"key_glob": "dining.*", "audience": f"user:{me.user_id}", "level": "solve"}
    other.ask("POST", f"{OWNER}/consent", grant, 201)
    together = me.tell("POST", "/solve", decision)
    assert together["without_consent"] == []
    assert together["ranking"][0]["option"] == "bbq-barn"
    assert together["words"]
    assert "health.notes" not in str(together)

    seen = me.tell("GET", f"?owner={other.user_id}")["entries"]
    assert [entry["key"] for entry in seen] == ["dining.cuisine.bbq"]
    assert seen[0]["provenance"] is None

    revoked = {"key_glob": "dining.cuisine.*", "audience": f"user:{me.user_id}"}
    other.ask("POST", f"{OWNER}/consent/revocations", revoked, 201)
    assert me.tell("POST", "/solve", decision)["without_consent"] == [str(other.user_id)]
    kinds = [line["kind"] for line in other.ledger() if line["audience"] != "self"]
    assert kinds == ["denial", "disclosure", "disclosure", "denial"]


@pytest.mark.promise("P3-hosted", "R-6")
def test_the_owners_switch_and_a_keys_scopes_hold_for_preferences(me: Wanting) -> None:
    me.says(signal("a.b", 0.5))
    plain = {"Authorization": f"Bearer {me.minted['key']}"}
    refused = me.api.get(AGENT, headers=plain)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    me.ask("PUT", "/api/v1/agent-access", {"enabled": False})
    off = me.api.get(AGENT, headers=me.agent)
    assert (off.status_code, off.json()["code"]) == (403, "profile_access_disabled")
    me.ask("PUT", "/api/v1/agent-access", {"enabled": True})
    assert me.wants()["a.b"]["value"] is True


@pytest.mark.promise("P3-hosted-erase", "P3-hosted")
def test_a_deleted_signal_is_gone_and_an_erased_owner_leaves_nothing(
    me: Wanting, stack: RunningStack
) -> None:
    [kept] = me.says(signal("secret.thing", 0.5, "canary-7f3a"))
    answer = me.api.delete(f"{OWNER}/signals/{kept['id']}", headers=me.headers)
    assert answer.status_code == 204
    gone = wait_for(lambda: "secret.thing" not in me.wants(), FOLLOWS_SECONDS, POLL_SECONDS)
    assert gone
    me.says(signal("other.thing", 0.5))
    assert me.api.delete("/api/v1/account", headers=me.headers).status_code == 204
    tables = ("preference_signals", "preference_documents", "preference_ledger", "consent_events")
    with psycopg.connect(stack.database_url, autocommit=True) as admin:
        for table in tables:
            count = f"SELECT count(*) FROM judgment.{table} WHERE user_id = %s"
            row = admin.execute(count.encode(), [me.user_id]).fetchone()
            assert row == (0,), table
