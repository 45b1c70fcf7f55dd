"""Where the command line finds the API and its key: a stack file, else the environment."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgment.kit.settings import SettingError, read_settings


@dataclass(frozen=True)
class Settings:
    """`sync_api_url`: the API's address; `sync_api_key`: an agent key of yours."""

    sync_api_url: str
    sync_api_key: str


@dataclass(frozen=True)
class Access:
    """The API's address, an owner's token or an agent's key for it, or both."""

    sync_api_url: str
    sync_owner_token: str | None = field(default=None, repr=False)
    sync_api_key: str | None = field(default=None, repr=False)


def access(stack: str | None = None, owner: str | None = None) -> Access:
    """By `stack`, else JUDGMENT_STACK (a local stack's stack.json; `owner`, else
    JUDGMENT_STACK_OWNER, says whose, demo unless set), else by SYNC_API_URL with SYNC_OWNER_TOKEN
    or SYNC_API_KEY.

    Raises SettingError, which names what is missing and never a value.
    """
    stack = stack or os.environ.get("JUDGMENT_STACK")
    if stack:
        owner = owner or os.environ.get("JUDGMENT_STACK_OWNER") or "demo"
        state = _of_stack(Path(stack), owner)
        return Access(state["api_url"], state.get("owner_token"), state["agent_key"])
    found = read_settings(Access, os.environ)
    if found.sync_owner_token is None and found.sync_api_key is None:
        raise SettingError("SYNC_OWNER_TOKEN or SYNC_API_KEY is required")
    return found


def settings(stack: Path | None, owner: str) -> Settings:
    """The address and key of `owner` in a local stack's file, or those of the environment.

    Raises SettingError, which names what is missing and never a value.
    """
    if stack is None:
        return read_settings(Settings, os.environ)
    state = _of_stack(stack, owner)
    return Settings(state["api_url"], state["agent_key"])


def _of_stack(stack: Path, owner: str) -> dict[str, str]:
    try:
        state: dict[str, Any] = json.loads(stack.read_text(encoding="utf-8"))
        found = {"api_url": state["api_url"], **state["owners"][owner]}
        if not all(isinstance(found[name], str) for name in ("api_url", "agent_key")):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{stack} does not describe a running stack with {owner}") from error
    return found
