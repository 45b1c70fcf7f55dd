"""What crosses a wire: the types, errors, principals, scopes, routes and jobs of Judgment.

Standard library and pydantic only. Importing the package loads none of its modules, so that the
route table costs no pydantic; names below are fetched on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgment.contract.account import AgentAccess, ExportLine
    from judgment.contract.errors import Problem, UnauthorizedProblem
    from judgment.contract.flags import AgentAccessFlag
    from judgment.contract.keys import AgentKey, AgentKeyList, MintedKey, MintKeyRequest
    from judgment.contract.models import ModelsInUse, OwnModels
    from judgment.contract.personal import PersonalContext, PersonalContextText
    from judgment.contract.principal import Principal
    from judgment.contract.profile import (
        AgentContextRule,
        AgentProfile,
        AgentSignalSummary,
        CategoryTendency,
        ProfileExplanation,
        ProfileQuery,
        RecentDecision,
        RecentDecisions,
        RecentDecisionsQuery,
    )
    from judgment.contract.rounds import DecisionRequest, RecordedDecision, Scenario
    from judgment.contract.routes import ROUTES, Route
    from judgment.contract.scopes import Scope

_HOMES = {
    "AgentAccess": "account",
    "AgentAccessFlag": "flags",
    "AgentContextRule": "profile",
    "AgentKey": "keys",
    "AgentKeyList": "keys",
    "AgentProfile": "profile",
    "AgentSignalSummary": "profile",
    "CategoryTendency": "profile",
    "DecisionRequest": "rounds",
    "ExportLine": "account",
    "MintKeyRequest": "keys",
    "MintedKey": "keys",
    "ModelsInUse": "models",
    "OwnModels": "models",
    "PersonalContext": "personal",
    "PersonalContextText": "personal",
    "Principal": "principal",
    "Problem": "errors",
    "ProfileExplanation": "profile",
    "ProfileQuery": "profile",
    "ROUTES": "routes",
    "RecentDecision": "profile",
    "RecentDecisions": "profile",
    "RecentDecisionsQuery": "profile",
    "RecordedDecision": "rounds",
    "Route": "routes",
    "Scenario": "rounds",
    "Scope": "scopes",
    "UnauthorizedProblem": "errors",
}

__all__ = [
    "ROUTES",
    "AgentAccess",
    "AgentAccessFlag",
    "AgentContextRule",
    "AgentKey",
    "AgentKeyList",
    "AgentProfile",
    "AgentSignalSummary",
    "CategoryTendency",
    "DecisionRequest",
    "ExportLine",
    "MintKeyRequest",
    "MintedKey",
    "ModelsInUse",
    "OwnModels",
    "PersonalContext",
    "PersonalContextText",
    "Principal",
    "Problem",
    "ProfileExplanation",
    "ProfileQuery",
    "RecentDecision",
    "RecentDecisions",
    "RecentDecisionsQuery",
    "RecordedDecision",
    "Route",
    "Scenario",
    "Scope",
    "UnauthorizedProblem",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
