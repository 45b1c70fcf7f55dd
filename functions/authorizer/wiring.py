"""What the authorizer touches: its database role, the issuer, the session secret."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.access import store
from judgment.access.credentials import Authenticator, Console
from judgment.access.issuer import fetch_json
from judgment.access.tokens import OwnerTokens, SigningKeys
from judgment.db.connection import Database
from judgment.entry.secrets import secret
from judgment.kit.settings import read_settings


@dataclass(frozen=True)
class Settings:
    """Environment of the authorizer."""

    database_url: str
    console_origin: str
    session_secret_id: str
    oidc_issuer: str
    oidc_audience: str
    oidc_admin_claim: str


def wire() -> Authenticator:
    """The authenticator over the real adapters. Raises SettingError."""
    s = read_settings(Settings, os.environ)
    database = Database(s.database_url, application_name="authorizer")
    keys = SigningKeys(s.oidc_issuer, fetch_json)
    tokens = OwnerTokens(keys, s.oidc_issuer, s.oidc_audience, s.oidc_admin_claim)
    console = Console(s.console_origin, secret(s.session_secret_id))
    return Authenticator(database.statement, store, tokens, console)
