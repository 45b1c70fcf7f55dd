"""Every HTTP route of the product: who may call it, what it takes, what it answers.

Standard library only: the authorizer reads this table on every call. Types are named
`module:Name` inside `judgment.contract` and resolved by the generators of `docs/contract/`.
`ANY` matches each method that has no row of its own on that path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgment.contract.scopes import Scope

Auth = Literal["none", "agent", "owner", "admin", "either"]


@dataclass(frozen=True)
class Route:
    """One method on one path. `limit` names a rate limit; `query` the model of its query string.

    A route with `auth` other than `none` and without `query` takes no query parameters. An
    `idempotent` one honours the `Idempotency-Key` header. `refuses` are the statuses that do not
    follow from the rest of the row.
    """

    method: str
    path: str
    door: str
    auth: Auth
    summary: str
    response: str | None = None
    request: str | None = None
    status: int = 200
    query: str | None = None
    scope: Scope | None = None
    limit: str | None = None
    idempotent: bool = False
    media_type: str = "application/json"
    refuses: tuple[int, ...] = ()


ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", "public", "none", "Is this deployment up.", "health:Health"),
    Route(
        "GET",
        "/.well-known/skills/{path+}",
        "public",
        "none",
        "The agent skill, as its installers fetch it.",
        media_type="text/markdown",
    ),
    Route(
        "GET",
        "/docs/agent-skill",
        "public",
        "none",
        "How to install the agent skill, per runtime.",
        media_type="text/html",
    ),
    Route(
        "GET",
        "/skills/sync-skill-v1.md",
        "public",
        "none",
        "The agent skill, version 1.",
        media_type="text/markdown",
    ),
    Route("ANY", "/", "public", "none", "404: nothing here.", "errors:Problem", status=404),
    Route("ANY", "/{path+}", "public", "none", "404: nothing here.", "errors:Problem", status=404),
    Route(
        "GET",
        "/api/agent/v1/profile",
        "profile_read",
        "agent",
        "The owner's judgment profile.",
        "profile:AgentProfile",
        scope=Scope.PROFILE_READ,
        limit="profile",
    ),
    Route(
        "GET",
        "/api/agent/v1/profile/recent-decisions",
        "profile_read",
        "agent",
        "The owner's latest decisions, newest first.",
        "profile:RecentDecisions",
        query="profile:RecentDecisionsQuery",
        scope=Scope.PROFILE_READ,
        limit="recent_decisions",
    ),
    Route(
        "GET",
        "/api/agent/v1/profile/explanation",
        "profile_read",
        "agent",
        "Why the scores and signal states are what they are.",
        "profile:ProfileExplanation",
        scope=Scope.PROFILE_READ,
        limit="profile",
    ),
    Route("POST", "/mcp", "mcp", "agent", "Model Context Protocol, streamable HTTP, JSON only."),
    Route("ANY", "/mcp", "mcp", "none", "405: only POST is served.", status=405),
    Route(
        "POST",
        "/api/v1/keys",
        "api_keys",
        "owner",
        "Mint an agent key; its plaintext is shown this once.",
        "keys:MintedKey",
        "keys:MintKeyRequest",
        201,
        idempotent=True,
    ),
    Route("GET", "/api/v1/keys", "api_keys", "owner", "The owner's keys.", "keys:AgentKeyList"),
    Route("DELETE", "/api/v1/keys/{key_id}", "api_keys", "owner", "Revoke a key.", "keys:AgentKey"),
    Route(
        "PUT",
        "/api/v1/agent-access",
        "account",
        "owner",
        "The owner's own switch for all agent routes.",
        "account:AgentAccess",
        "account:AgentAccess",
    ),
    Route(
        "GET",
        "/api/v1/account/export",
        "account",
        "owner",
        "Everything that is the owner's, in pages.",
        "account:ExportLine",
        query="account:ExportQuery",
        media_type="application/x-ndjson",
    ),
    Route("DELETE", "/api/v1/account", "account", "owner", "Erase the owner.", status=204),
    Route(
        "GET",
        "/api/v1/models",
        "account",
        "owner",
        "Which language model does what for the owner.",
        "models:ModelsInUse",
    ),
    Route(
        "PUT",
        "/api/v1/models",
        "account",
        "owner",
        "Choose other models than the operator's.",
        "models:ModelsInUse",
        "models:OwnModels",
        refuses=(403,),
    ),
    Route(
        "GET",
        "/api/v1/personal-context",
        "personal_context",
        "owner",
        "The owner's personal context, and whether to ask for it.",
        "personal:PersonalContext",
    ),
    Route(
        "PUT",
        "/api/v1/personal-context",
        "personal_context",
        "owner",
        "Write the personal context; empty deletes it.",
        "personal:PersonalContext",
        "personal:PersonalContextText",
    ),
    Route(
        "POST",
        "/api/v1/onboarding/lightbox/dismiss",
        "personal_context",
        "owner",
        "The one prompt for personal context was seen.",
        status=204,
    ),
    Route(
        "GET",
        "/api/v1/scenarios/next",
        "rounds",
        "owner",
        "The next round to play.",
        "rounds:Scenario",
        query="rounds:NextQuery",
        refuses=(404, 409),
    ),
    Route(
        "POST",
        "/api/v1/scenarios/personal",
        "scenario_generation",
        "owner",
        "A fresh round about the owner's own life.",
        "rounds:Scenario",
        status=201,
        limit="personal_scenarios",
        refuses=(404, 409),
    ),
    Route(
        "GET",
        "/api/v1/scenarios/{scenario_id}",
        "rounds",
        "owner",
        "A round that the owner may play, again after a refresh.",
        "rounds:Scenario",
    ),
    Route(
        "POST",
        "/api/v1/decisions",
        "rounds",
        "owner",
        "Record a decision.",
        "rounds:RecordedDecision",
        "rounds:DecisionRequest",
        201,
        idempotent=True,
        refuses=(404,),
    ),
    Route(
        "GET",
        "/api/admin/v1/flags",
        "flags",
        "admin",
        "The kill switch.",
        "flags:AgentAccessFlag",
    ),
    Route(
        "PUT",
        "/api/admin/v1/flags",
        "flags",
        "admin",
        "Set the kill switch.",
        "flags:AgentAccessFlag",
        "flags:AgentAccessFlag",
    ),
)
