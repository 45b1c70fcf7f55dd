"""Where the command line finds the API and its key: a stack file, else the environment."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgment.kit.settings import SettingError, read_settings


@dataclass(frozen=True)
class Settings:
    """`sync_api_url`: the API's address; `sync_api_key`: an agent key of yours."""

    sync_api_url: str
    sync_api_key: str


def settings(stack: Path | None, owner: str) -> Settings:
    """The address and key of `owner` in a local stack's file, or those of the environment.

    Raises SettingError, which names what is missing and never a value.
    """
    if stack is None:
        return read_settings(Settings, os.environ)
    try:
        state: dict[str, Any] = json.loads(stack.read_text(encoding="utf-8"))
        return Settings(state["api_url"], state["owners"][owner]["agent_key"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{stack} does not describe a running stack with {owner}") from error
