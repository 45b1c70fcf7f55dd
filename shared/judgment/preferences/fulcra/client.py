"""The real package, made ready: credentials from its own file, under its own lock.

Addresses are the package's settings: FULCRA_OIDC_DOMAIN, FULCRA_OIDC_CLIENT_ID,
FULCRA_OIDC_AUDIENCE and FULCRA_OIDC_SCOPE, read by it when it is imported. The audience is the
API's address at the same time; plain http is taken for this machine alone.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from judgment.kit.errors import Unavailable
from judgment.preferences.fulcra.port import Client, SignInNeeded

EXTRA = "pip install 'judgment[fulcra]'"
USER_AGENT = "judgment-prefs/1"


def credentials_path() -> Path:
    """Where the package's own `fulcra auth login` keeps credentials."""
    return Path.home() / ".config" / "fulcra" / "credentials.json"


@dataclass(frozen=True)
class Settings:
    """How to reach an account. None leaves the package's own setting as it is.

    `seconds` bounds each wait on the network; `folder` is absolute and holds the documents.
    """

    credentials: Path = field(default_factory=credentials_path)
    audience: str | None = None
    domain: str | None = None
    seconds: float = 20.0
    folder: str = "/prefs"


def connect(settings: Settings) -> Client:
    """The package's client, signed in as its credentials file says; no request is made yet.

    Raises SignInNeeded without usable credentials, Unavailable without the package.
    """
    core = _module("core")
    shelf = _module("credentials_store").CredentialsFile(settings.credentials)
    try:
        held = shelf.load()
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        raise SignInNeeded(
            "The credentials of Fulcra cannot be read: run `fulcra auth login`."
        ) from None
    if held is None or not isinstance(held.access_token, str) or not held.access_token:
        raise SignInNeeded
    if held.is_expired() and held.refresh_token is None:
        raise SignInNeeded
    client = core.FulcraAPI(
        oidc_domain=settings.domain,
        oidc_audience=settings.audience,
        credentials=held,
        credentials_store=shelf,
        user_agent_extra=USER_AGENT,
    )
    return cast(Client, client)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"fulcra_api.{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] != "fulcra_api":
            raise
        raise Unavailable(f"The Fulcra store needs the extra `fulcra`: {EXTRA}") from None
