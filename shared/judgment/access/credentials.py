"""From what came with a request to who is asking, or to nobody.

An agent route takes an agent key and nothing else; an owner route takes the owner's JWT, as a
bearer or in the console's session cookie, and nothing else. Whatever text is presented as an agent
key is hashed and looked up, so that an unknown, revoked, expired or malformed one costs the same
statements and gives the same answer (ruling 19).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from judgment.access.sessions import BrowserRequest, is_our_page
from judgment.contract.principal import Principal
from judgment.kit.errors import Unauthorized
from judgment.kit.hashing import sha256_hex
from judgment.kit.ids import KEY_PREFIX

if TYPE_CHECKING:
    from judgment.access.tokens import OwnerToken
    from judgment.contract.routes import Auth
    from judgment.db.connection import Transaction


@dataclass(frozen=True, slots=True)
class Presented:
    """The credentials of one request: every `Authorization` header, and the session cookie."""

    authorization: list[str]
    session: str | None
    browser: BrowserRequest


class CredentialRows(Protocol):
    """The two statements of authentication, run as `judgment_authorizer`."""

    def resolve_key(self, tx: Transaction, key_hash: str) -> Mapping[str, Any] | None:
        """key_id, user_id, scopes and prefix of a valid key; touches its `last_used_at`."""
        ...

    def ensure_owner(self, tx: Transaction, user_id: UUID, issuer: str, subject: str) -> bool:
        """Make the owner's rows where they are absent; False for a person we may not add."""
        ...


class TokenVerifier(Protocol):
    """Checks an owner's JWT."""

    def verify(self, token: str) -> OwnerToken:
        """See `tokens.OwnerTokens`."""
        ...


@dataclass(frozen=True, slots=True)
class Console:
    """Where the console lives, and the secret its CSRF tokens are derived from."""

    origin: str
    secret: Callable[[], bytes]


class Authenticator:
    """Says who is asking. Raises Unauthorized, or Unavailable when it cannot find out."""

    def __init__(
        self,
        begin: Callable[[], AbstractContextManager[Transaction]],
        rows: CredentialRows,
        tokens: TokenVerifier,
        console: Console,
    ):
        self._begin = begin
        self._rows = rows
        self._tokens = tokens
        self._console = console

    def authenticate(self, auth: Auth, presented: Presented) -> Principal:
        """The caller of a route whose `auth` is that."""
        if auth == "none":
            raise Unauthorized
        bearer = _bearer(presented.authorization)
        if auth == "agent":
            return self._agent(bearer)
        if bearer is None:
            return self._owner(self._session(presented))
        if auth == "either" and bearer.startswith(KEY_PREFIX):
            return self._agent(bearer)
        return self._owner(bearer)

    def _agent(self, key: str | None) -> Principal:
        if key is None:
            raise Unauthorized
        with self._begin() as tx:
            row = self._rows.resolve_key(tx, sha256_hex(key))
        if row is None:
            raise Unauthorized
        return Principal(
            kind="agent",
            user_id=row["user_id"],
            key_id=row["key_id"],
            key_prefix=row["prefix"],
            scopes=frozenset(row["scopes"]),
        )

    def _owner(self, jwt: str) -> Principal:
        token = self._tokens.verify(jwt)
        with self._begin() as tx:
            known = self._rows.ensure_owner(tx, token.user_id, token.issuer, token.subject)
        if not known:
            raise Unauthorized
        return Principal(kind="owner", user_id=token.user_id, is_admin=token.is_admin)

    def _session(self, presented: Presented) -> str:
        session = presented.session
        if session is None or not is_our_page(
            presented.browser, session, self._console.secret(), self._console.origin
        ):
            raise Unauthorized
        return session


def _bearer(authorization: list[str]) -> str | None:
    """The one bearer credential, None without any. Raises Unauthorized for anything else."""
    if not authorization:
        return None
    scheme, _, credential = authorization[0].partition(" ")
    credential = credential.strip()
    if len(authorization) > 1 or scheme.lower() != "bearer" or not credential:
        raise Unauthorized
    return credential
