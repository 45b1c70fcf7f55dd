"""Strict in: what a client sends is refused for an unknown key, a coercion or a missing field."""

from __future__ import annotations

import json
from importlib import import_module
from pkgutil import iter_modules
from typing import Any
from uuid import UUID

import pytest
from pydantic import ValidationError

import judgment.contract
from judgment.contract.account import AgentAccess, ExportQuery
from judgment.contract.conversations import (
    ApprovalDecision,
    ApprovalSetting,
    ConversationsQuery,
    FileQuery,
    FileText,
    NewProject,
    OverlayText,
    ProjectChange,
)
from judgment.contract.flags import AgentAccessFlag
from judgment.contract.jobs import Event, SummaryWakeUp
from judgment.contract.keys import MintKeyRequest
from judgment.contract.memory import ImportOrder, ImportPart, MemoryExportQuery
from judgment.contract.messages import MessageMetadata, MessageRequest
from judgment.contract.models import OwnModel, OwnModels
from judgment.contract.personal import PersonalContextText
from judgment.contract.preferences import (
    BlockQuery,
    CaptureRequest,
    GrantRequest,
    LedgerQuery,
    NewSignal,
    PreferencesQuery,
    RevokeRequest,
    SignalSource,
    SignalsQuery,
    SolveConstraint,
    SolveOption,
    SolveParticipant,
    SolveRequest,
    WhyQuery,
)
from judgment.contract.profile import ProfileQuery, RecentDecisionsQuery
from judgment.contract.rounds import DecisionRequest, NextQuery
from judgment.contract.scopes import Scope
from judgment.contract.wire import RequestModel

UUID_TEXT = "8b8e7a52-7a34-4a5e-9b0e-6c1a4b6f2d10"

OWN_MODEL = {"role": "scenario", "provider": "ollama", "model": "llama3.2", "key_secret": None}

SOURCE = {"platform": "codex", "agent": None, "session": "s-1", "sequence": 2}
SIGNAL = {
    "key": "dining.cuisine.thai",
    "value": {"liked": True},
    "strength": 0.8,
    "source": SOURCE,
    "kind": "preference",
    "scope": "platform:codex",
    "confidence": 0.9,
    "half_life_days": 90.0,
    "observed_at": "2026-11-30T12:00:00Z",
    "supersedes": None,
    "corrects": False,
    "id": UUID_TEXT,
}
OPTION = {"id": "thai", "keys": ["dining.cuisine.thai"], "title": "", "attributes": {"price": 24.0}}
PARTICIPANT = {"owner": UUID_TEXT, "self": False, "id": None, "weights": None}
CONSTRAINT = {"kind": "at_most", "subject": "price", "amount": 30.0, "by": "bob"}
REVOKED = {"key_glob": "dining.*", "audience": "bob", "level": "read"}

METADATA = {
    "client": "web",
    "project": "fitness",
    "retry_of_message_id": "m-1",
    "retry_reason": "network",
}
OPEN = {MessageRequest}
"""Whose unknown outer keys are ignored (ruling 41)."""

VALID: dict[type[RequestModel], dict[str, Any]] = {
    MintKeyRequest: {
        "name": "Hermes on my laptop",
        "scopes": ["profile:read", "preferences:read"],
        "expires_at": "2027-01-01T00:00:00Z",
    },
    AgentAccess: {"enabled": False},
    AgentAccessFlag: {"global": True, "user_overrides": {UUID_TEXT: False}},
    ExportQuery: {"cursor": "abc"},
    RecentDecisionsQuery: {"limit": 3},
    ProfileQuery: {},
    Event: {
        "id": UUID_TEXT,
        "type": "profile.changed",
        "version": 1,
        "user_id": UUID_TEXT,
        "subject_id": UUID_TEXT,
        "correlation_id": "c-1",
    },
    SummaryWakeUp: {"user_id": UUID_TEXT, "correlation_id": "c-1"},
    NextQuery: {"theme": "frontier"},
    MessageMetadata: METADATA,
    MessageRequest: {"content": " ", "metadata": METADATA},
    ConversationsQuery: {"limit": 10, "offset": 20},
    NewProject: {"name": "My Garden", "icon": "leaf"},
    ProjectChange: {"name": "Our Garden", "icon": None},
    FileQuery: {"path": "documents/fitness/plan.md"},
    FileText: {"content": ""},
    OverlayText: {"overlay_content": "Call me Captain."},
    ApprovalDecision: {"decision": "approved"},
    ApprovalSetting: {"approval_mode": "ask-on-write"},
    MemoryExportQuery: {"cursor": "abc"},
    ImportPart: {"data": "aGVsbG8="},
    ImportOrder: {"parts": 2, "sha256": "0" * 64, "conflicts": "refuse"},
    DecisionRequest: {
        "scenario_id": UUID_TEXT,
        "option_id": "a",
        "rationale": "It is fair.",
        "confidence": 0.7,
        "response_ms": 41_000,
        "first_option_id": "b",
        "self_predicted_option_id": "a",
        "predicted_peer_option_id": "none",
    },
    PersonalContextText: {"personal_context": "I run a small bakery with my sister."},
    OwnModel: OWN_MODEL,
    OwnModels: {"models": [OWN_MODEL]},
    PreferencesQuery: {
        "platform": "codex",
        "below": "dining",
        "owner": UUID_TEXT,
        "audience": None,
        "purpose": "read",
        "limit": 20,
        "cursor": None,
    },
    WhyQuery: {"key": "dining.cuisine.thai", "platform": None},
    BlockQuery: {"platform": "claude-code"},
    SignalsQuery: {"key": None, "limit": 100, "cursor": "abc"},
    LedgerQuery: {"limit": 1, "cursor": None},
    SignalSource: SOURCE,
    NewSignal: SIGNAL,
    CaptureRequest: {"signals": [SIGNAL]},
    SolveOption: OPTION,
    SolveParticipant: PARTICIPANT,
    SolveConstraint: CONSTRAINT,
    SolveRequest: {
        "options": [OPTION],
        "participants": [PARTICIPANT],
        "policy": "nash",
        "normalise": "mean",
        "constraints": [CONSTRAINT],
        "veto_below": -0.5,
        "forced_order": False,
        "words": True,
    },
    GrantRequest: {**REVOKED, "effect": "allow", "expires": "2027-01-01T00:00:00Z"},
    RevokeRequest: REVOKED,
}

WRONG: list[tuple[type[RequestModel], str, Any]] = [
    (MintKeyRequest, "name", ""),
    (MintKeyRequest, "name", "   "),
    (MintKeyRequest, "name", 7),
    (MintKeyRequest, "name", None),
    (MintKeyRequest, "name", "a" * 101),
    (MintKeyRequest, "name", "nul\x00"),
    (MintKeyRequest, "name", "two\nlines"),
    (MintKeyRequest, "scopes", []),
    (MintKeyRequest, "scopes", "profile:read"),
    (MintKeyRequest, "scopes", ["profile:write"]),
    (MintKeyRequest, "scopes", ["profile:read"] * 4),
    (MintKeyRequest, "scopes", None),
    (MintKeyRequest, "expires_at", 1_900_000_000),
    (MintKeyRequest, "expires_at", "2027-01-01T00:00:00"),
    (MintKeyRequest, "expires_at", "soon"),
    (AgentAccess, "enabled", "false"),
    (AgentAccess, "enabled", 0),
    (AgentAccess, "enabled", None),
    (AgentAccessFlag, "global", "true"),
    (AgentAccessFlag, "global", None),
    (AgentAccessFlag, "user_overrides", {"me": False}),
    (AgentAccessFlag, "user_overrides", {UUID_TEXT: 0}),
    (AgentAccessFlag, "user_overrides", []),
    (ExportQuery, "cursor", ""),
    (ExportQuery, "cursor", "c" * 2_049),
    (RecentDecisionsQuery, "limit", "3"),
    (NextQuery, "theme", "personal"),
    (NextQuery, "theme", ""),
    (DecisionRequest, "scenario_id", "the first"),
    (DecisionRequest, "option_id", ""),
    (DecisionRequest, "option_id", None),
    (DecisionRequest, "option_id", "a" * 65),
    (DecisionRequest, "rationale", 7),
    (DecisionRequest, "confidence", 1.2),
    (DecisionRequest, "confidence", -0.1),
    (DecisionRequest, "confidence", float("nan")),
    (DecisionRequest, "confidence", "0.5"),
    (DecisionRequest, "confidence", True),
    (DecisionRequest, "response_ms", -1),
    (DecisionRequest, "response_ms", 0.5),
    (DecisionRequest, "response_ms", 86_400_001),
    (DecisionRequest, "first_option_id", ""),
    (DecisionRequest, "self_predicted_option_id", 1),
    (DecisionRequest, "predicted_peer_option_id", ["a"]),
    (PersonalContextText, "personal_context", None),
    (PersonalContextText, "personal_context", ["a"]),
    (OwnModel, "role", "judge"),
    (OwnModel, "provider", "somebody"),
    (OwnModel, "model", ""),
    (OwnModel, "key_secret", ""),
    (OwnModels, "models", [OWN_MODEL] * 6),
    (OwnModels, "models", None),
    (PreferencesQuery, "platform", "../x"),
    (PreferencesQuery, "limit", 201),
    (PreferencesQuery, "purpose", "share"),
    (BlockQuery, "platform", ""),
    (SignalSource, "platform", "Codex CLI"),
    (SignalSource, "sequence", -1),
    (NewSignal, "kind", "consent"),
    (MessageMetadata, "project", ""),
    (MessageMetadata, "client", "a\0b"),
    (MessageRequest, "content", ""),
    (MessageRequest, "content", None),
    (MessageRequest, "metadata", []),
    (MessageRequest, "metadata", {**METADATA, "process": {}}),
    (ConversationsQuery, "limit", 0),
    (ConversationsQuery, "offset", -1),
    (NewProject, "name", ""),
    (FileQuery, "path", ""),
    (FileText, "content", "a\0b"),
    (ApprovalDecision, "decision", "maybe"),
    (ApprovalSetting, "approval_mode", "never"),
    (ImportPart, "data", ""),
    (ImportOrder, "parts", 0),
    (ImportOrder, "sha256", "x"),
    (ImportOrder, "conflicts", "merge"),
    (NewSignal, "strength", 9.99),
    (NewSignal, "strength", float("nan")),
    (NewSignal, "strength", True),
    (NewSignal, "confidence", -0.1),
    (NewSignal, "half_life_days", 0),
    (NewSignal, "half_life_days", float("inf")),
    (NewSignal, "id", "mine"),
    (CaptureRequest, "signals", []),
    (CaptureRequest, "signals", [SIGNAL] * 101),
    (SolveRequest, "options", []),
    (SolveRequest, "participants", []),
    (SolveRequest, "policy", "dictator"),
    (SolveRequest, "veto_below", -2),
    (SolveConstraint, "kind", "wants"),
    (SolveOption, "attributes", {"price": float("nan")}),
    (SolveParticipant, "weights", {"a": "much"}),
    (GrantRequest, "effect", "revoke"),
    (GrantRequest, "level", "own"),
    (GrantRequest, "expires", "tomorrow"),
    (GrantRequest, "expires", "2027-01-01T00:00:00"),
    (RevokeRequest, "key_glob", ""),
    (SummaryWakeUp, "user_id", "me"),
    (SummaryWakeUp, "correlation_id", "c" * 129),
    (Event, "type", "profile.deleted"),
    (Event, "version", 0),
    (Event, "user_id", "me"),
    (Event, "correlation_id", "c" * 129),
]


def test_every_request_model_has_an_example_here() -> None:
    for module in iter_modules(judgment.contract.__path__, "judgment.contract."):
        import_module(module.name)
    ours = {
        m for m in RequestModel.__subclasses__() if m.__module__.startswith("judgment.contract")
    }
    assert set(VALID) == ours


@pytest.mark.promise("000-3", "000-12")
@pytest.mark.parametrize("model", VALID, ids=lambda model: model.__name__)
def test_a_valid_request_survives_the_wire(model: type[RequestModel]) -> None:
    parsed = model.model_validate_json(json.dumps(VALID[model]))
    assert json.loads(parsed.model_dump_json()) == VALID[model]


@pytest.mark.promise("000-12")
@pytest.mark.parametrize(
    "model", [m for m in VALID if m not in OPEN], ids=lambda model: model.__name__
)
def test_an_unknown_key_is_refused(model: type[RequestModel]) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        model.model_validate_json(json.dumps({**VALID[model], "user_id_": UUID_TEXT}))


@pytest.mark.promise("000-12")
@pytest.mark.parametrize(("model", "field", "value"), WRONG, ids=str)
def test_a_wrong_value_is_refused(model: type[RequestModel], field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        model.model_validate_json(json.dumps({**VALID[model], field: value}))


@pytest.mark.promise("R-3")
def test_a_key_reads_the_profile_and_no_more_unless_its_owner_asks() -> None:
    minted = MintKeyRequest.model_validate_json('{"name": "x"}')
    assert minted.scopes == [Scope.PROFILE_READ]
    assert minted.expires_at is None


@pytest.mark.promise("R-3")
def test_no_scope_lets_an_agent_write_judgment() -> None:
    assert {scope.value for scope in Scope} == {
        "profile:read",
        "preferences:read",
        "preferences:write",
    }


def test_a_names_half_surrogate_is_refused() -> None:
    with pytest.raises(ValidationError):
        MintKeyRequest.model_validate_json(b'{"name": "\\ud800"}')


@pytest.mark.promise("000-11-080")
def test_the_kill_switch_reads_the_value_that_the_migration_seeds() -> None:
    stored = '{"global": true, "user_overrides": {}}'
    flag = AgentAccessFlag.model_validate_json(stored)
    assert flag.global_ is True
    assert json.loads(flag.model_dump_json()) == json.loads(stored)
    assert flag.user_overrides.get(UUID(UUID_TEXT), True) is True
