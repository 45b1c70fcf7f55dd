"""Owner tokens: JWTs of one OpenID Connect issuer, checked against its published keys.

Only asymmetric algorithms are ever accepted, so a public key can not be used as a secret and
`alg: none` is unknown. Keys are kept for ten minutes; an unknown key id causes one refetch, at most
ten times a minute, so that a stranger's tokens cannot make us hammer the issuer. Nor can they make
us wait for an issuer that is down: after ten failures within a minute it is left alone until one
of them is a minute old.
Source: ruling 17.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from uuid import NAMESPACE_URL, UUID, uuid5

from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import Unauthorized, Unavailable
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS = ("ES256", "RS256", "EdDSA")
KEYS_FRESH_SECONDS = 600.0
REFETCHES_PER_MINUTE = 10
FAILURES_PER_MINUTE = 10
TOKEN_LIMIT = 8_192
SUBJECT_LIMIT = 255

FetchJson = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class OwnerToken:
    """What a valid token says: whose it is, who says so, and whether they administer."""

    user_id: UUID
    issuer: str
    subject: str
    is_admin: bool


def owner_id(issuer: str, subject: str) -> UUID:
    """A uuid subject is the owner's id; any other becomes uuid5 of issuer and subject."""
    return parse_uuid(subject) or uuid5(uuid5(NAMESPACE_URL, issuer), subject)


class SigningKeys:
    """The issuer's public keys, found by discovery.

    `fetch` gets a URL and returns the JSON object there, raising Unavailable when it cannot.
    """

    def __init__(
        self, issuer: str, fetch: FetchJson, monotonic: Callable[[], float] = time.monotonic
    ):
        self._issuer = issuer.rstrip("/")
        self._fetch = fetch
        self._monotonic = monotonic
        self._keys: dict[str, PyJWK] = {}
        self._fetched_at: float | None = None
        self._refetches: deque[float] = deque(maxlen=REFETCHES_PER_MINUTE)
        self._failures: deque[float] = deque(maxlen=FAILURES_PER_MINUTE)

    def key(self, kid: str) -> PyJWK:
        """The key of that id. Raises Unauthorized if there is none, Unavailable if unreachable."""
        now = self._monotonic()
        if self._fetched_at is None or now - self._fetched_at >= KEYS_FRESH_SECONDS:
            self._try_to_load(now)
        elif kid not in self._keys and _has_room(self._refetches, now):
            self._refetches.append(now)
            self._try_to_load(now)
        if kid not in self._keys:
            raise Unauthorized
        return self._keys[kid]

    def _try_to_load(self, now: float) -> None:
        if not _has_room(self._failures, now):
            raise Unavailable("The identity provider is unavailable.")
        try:
            self._load(now)
        except Unavailable:
            self._failures.append(now)
            raise

    def _load(self, now: float) -> None:
        discovery = self._fetch(f"{self._issuer}/.well-known/openid-configuration")
        if str(discovery.get("issuer", "")).rstrip("/") != self._issuer:
            raise Unavailable("The identity provider names another issuer.")
        address = str(discovery.get("jwks_uri", ""))
        if not address.startswith("https://" if self._issuer.startswith("https:") else "http"):
            raise Unavailable("The identity provider publishes no usable key address.")
        self._keys = _usable_keys(self._fetch(address))
        self._fetched_at = now


def _has_room(moments: deque[float], now: float) -> bool:
    """Whether fewer moments than the deque holds lie within the last minute."""
    return len(moments) != moments.maxlen or now - moments[0] >= 60


def _usable_keys(document: Mapping[str, Any]) -> dict[str, PyJWK]:
    """Signing keys by id; a key of a kind we do not accept is left out, never an error."""
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    published = document.get("keys")
    if not isinstance(published, list):
        raise Unavailable("The identity provider publishes no keys.")
    keys: dict[str, PyJWK] = {}
    for entry in cast("list[dict[str, Any]]", published):
        if not _is_signing_key(entry):
            continue
        try:
            key = PyJWK(entry)
        except PyJWTError:
            continue
        if key.algorithm_name in ALGORITHMS:
            keys[entry["kid"]] = key
    return keys


def _is_signing_key(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    named = cast("dict[str, Any]", entry)
    return named.get("use", "sig") == "sig" and isinstance(named.get("kid"), str)


class OwnerTokens:
    """Checks owner tokens. `admin_claim` is `name` (true) or `name=value` (equal or listed)."""

    def __init__(
        self,
        keys: SigningKeys,
        issuer: str,
        audience: str,
        admin_claim: str,
        clock: Clock = utc_now,
    ):
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._admin_claim = admin_claim
        self._clock = clock

    def verify(self, token: str) -> OwnerToken:
        """What the token says. Raises Unauthorized, or Unavailable if its keys are unreachable."""
        claims = self._signed_claims(token)
        subject = claims.get("sub")
        if (
            claims.get("iss") != self._issuer
            or self._audience not in _listed(claims.get("aud"))
            or not self._is_current(claims)
            or not isinstance(subject, str)
            or not 0 < len(subject) <= SUBJECT_LIMIT
            or not subject.isprintable()
        ):
            raise Unauthorized
        return OwnerToken(
            owner_id(self._issuer, subject), self._issuer, subject, self._is_admin(claims)
        )

    def _signed_claims(self, token: str) -> dict[str, Any]:
        import jwt

        if len(token) > TOKEN_LIMIT:
            raise Unauthorized
        try:
            head = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, UnicodeError) as error:
            raise Unauthorized from error
        algorithm, kid = head.get("alg"), head.get("kid")
        if algorithm not in ALGORITHMS or not isinstance(kid, str) or len(kid) > SUBJECT_LIMIT:
            raise Unauthorized
        key = self._keys.key(kid)
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                options={
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                    "verify_aud": False,
                    "verify_iss": False,
                },
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise Unauthorized from error

    def _is_current(self, claims: Mapping[str, Any]) -> bool:
        now = self._clock().timestamp()
        expires, begins = claims.get("exp"), claims.get("nbf", 0)
        return _is_time(expires) and expires > now and _is_time(begins) and begins <= now

    def _is_admin(self, claims: Mapping[str, Any]) -> bool:
        name, wants_value, value = self._admin_claim.partition("=")
        held = claims.get(name)
        return value in _listed(held) if wants_value else held is True


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    """A claim that may be one value or several, as several."""
    return cast("list[Any]", value) if isinstance(value, list) else [value]
