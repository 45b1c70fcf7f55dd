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
    "ExportLine": "account",
    "MintKeyRequest": "keys",
    "MintedKey": "keys",
    "Principal": "principal",
    "Problem": "errors",
    "ProfileExplanation": "profile",
    "ProfileQuery": "profile",
    "ROUTES": "routes",
    "RecentDecision": "profile",
    "RecentDecisions": "profile",
    "RecentDecisionsQuery": "profile",
    "Route": "routes",
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
    "ExportLine",
    "MintKeyRequest",
    "MintedKey",
    "Principal",
    "Problem",
    "ProfileExplanation",
    "ProfileQuery",
    "RecentDecision",
    "RecentDecisions",
    "RecentDecisionsQuery",
    "Route",
    "Scope",
    "UnauthorizedProblem",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
