"""A local OpenID Connect issuer: ES256, discovery, JWKS, key rotation and a stop switch.

Its whole state is one private file. The server only reads that file; whoever may read it (the
owner of this machine) rotates keys, stops the issuer or signs tokens by way of `LocalIssuer`, so
that nothing on the network can. Source: ruling 17; OpenID Connect Discovery 1.0; RFC 7517.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from infra.local.private import write_private
from judgment.kit.clock import Clock, utc_now

ALGORITHM = "ES256"
AUDIENCE = "judgment"
ADMIN_CLAIM = "judgment_admin"
LIFETIME = timedelta(days=30)
_DISCOVERY = "/.well-known/openid-configuration"
_JWKS = "/.well-known/jwks.json"


class LocalIssuer:
    """Signs and administers; `path` is the state file, kept readable by its owner alone."""

    def __init__(self, path: Path, url: str, *, clock: Clock = utc_now):
        self._path = path
        self.url = url
        self._clock = clock

    def begin(self) -> None:
        """Forget every earlier key, so that earlier tokens end, and make a new one."""
        self._write({"keys": [_new_key()], "stopped": False})

    def rotate(self, *, keep_old: bool = True) -> None:
        """Sign with a new key from now on; tokens of the old ones stay good if they are kept."""
        state = self._read()
        old = state["keys"] if keep_old else []
        self._write({**state, "keys": [_new_key(), *old]})

    def stop(self) -> None:
        """Answer 503 until `resume`: as if the issuer were down."""
        self._write({**self._read(), "stopped": True})

    def resume(self) -> None:
        """Answer again."""
        self._write({**self._read(), "stopped": False})

    def token(
        self,
        subject: UUID | str,
        *,
        admin: bool = False,
        lifetime: timedelta = LIFETIME,
        audience: str = AUDIENCE,
    ) -> str:
        """A signed JWT for that `sub`, valid from now for `lifetime` (negative: expired)."""
        now = self._clock()
        key = self._read()["keys"][0]
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": str(subject),
            "aud": audience,
            "iat": now,
            "exp": now + lifetime,
        }
        if admin:
            claims[ADMIN_CLAIM] = True
        return jwt.encode(claims, key["pem"], algorithm=ALGORITHM, headers={"kid": key["kid"]})

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        """Status and body of a GET."""
        state = self._read()
        if state["stopped"]:
            return 503, {"error": "temporarily_unavailable"}
        if path == _DISCOVERY:
            return 200, self._discovery()
        if path == _JWKS:
            return 200, {"keys": [_public(key) for key in state["keys"]]}
        return 404, {"error": "not_found"}

    def _discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "jwks_uri": self.url + _JWKS,
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
        }

    def _read(self) -> dict[str, Any]:
        return json.loads(self._path.read_text())

    def _write(self, state: dict[str, Any]) -> None:
        write_private(self._path, json.dumps(state))


class IssuerApp:
    """The issuer over HTTP (ASGI)."""

    def __init__(self, issuer: LocalIssuer):
        self._issuer = issuer

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer GET; anything else is 404."""
        if scope["type"] != "http":
            return
        path = scope["path"] if scope["method"] == "GET" else ""
        status, body = self._issuer.answer(path)
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


def _new_key() -> dict[str, str]:
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {"kid": secrets.token_hex(8), "pem": pem.decode()}


def _public(key: dict[str, str]) -> dict[str, Any]:
    private = serialization.load_pem_private_key(key["pem"].encode(), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    shown = ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    return {**shown, "kid": key["kid"], "alg": ALGORITHM, "use": "sig"}
