"""An OpenID Connect issuer in this process: it signs tokens, publishes keys, and can go down."""

from __future__ import annotations

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from judgment.kit.errors import Unavailable

ISSUER = "https://id.example"
AUDIENCE = "judgment"
ADMIN_CLAIM = "judgment_admin"


class FakeIssuer:
    """`fetch` serves its documents; `sign` makes tokens with its newest key."""

    def __init__(self, algorithm: str = "ES256"):
        self.algorithm = algorithm
        self.down = False
        self.fetches: list[str] = []
        self.published: list[dict[str, Any]] = []
        self.rotate()

    def rotate(self, *, keep: bool = True) -> None:
        """Sign with a new key from now on; `keep` publishes the earlier ones beside it."""
        self.kid = f"key-{len(self.published) + 1}-{self.algorithm}-{id(self)}"
        self.private: Any = {
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
        }[self.algorithm]()
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        jwk = json.loads(algorithm.to_jwk(self.private.public_key()))
        entry = {**jwk, "kid": self.kid, "use": "sig", "alg": self.algorithm}
        self.published = [*(self.published if keep else []), entry]

    def fetch(self, url: str) -> dict[str, Any]:
        """Discovery and keys. Raises Unavailable when down."""
        self.fetches.append(url)
        if self.down:
            raise Unavailable
        return {
            f"{ISSUER}/.well-known/openid-configuration": {
                "issuer": ISSUER,
                "jwks_uri": f"{ISSUER}/keys",
            },
            f"{ISSUER}/keys": {"keys": self.published},
        }[url]

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Claims of a good token with changes; None removes one."""
        good = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1",
            "exp": int(time.time()) + 3600,
        }
        return {key: value for key, value in {**good, **changes}.items() if value is not None}

    def sign(self, claims: dict[str, Any] | None = None, **headers: Any) -> str:
        """A token with those claims (default: good ones)."""
        head = {"kid": self.kid, **headers}
        return jwt.encode(
            self.claims() if claims is None else claims, self.private, self.algorithm, head
        )
