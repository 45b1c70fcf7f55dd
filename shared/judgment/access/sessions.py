"""The console's session cookie and what protects it from other sites (ruling 17).

The cookie holds the owner's JWT. A request that may change something must also come from the
console's origin and carry a token derived from the session, which another site can neither read
nor compute. A read must not be a cross-site one.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

COOKIE = "__Host-session"
CSRF_HEADER = "X-CSRF-Token"
SAFE_METHODS = frozenset({"GET", "HEAD"})
CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class BrowserRequest:
    """The parts of a request that say where a browser sent it from."""

    method: str
    origin: str | None
    fetch_site: str | None
    csrf_token: str | None


def session_of(cookie_headers: list[str]) -> str | None:
    """The session in the `Cookie` headers; None when absent, empty or there twice."""
    found = [
        value
        for header in cookie_headers
        for name, _, value in (part.strip().partition("=") for part in header.split(";"))
        if name == COOKIE
    ]
    return found[0] if len(found) == 1 and found[0] else None


def csrf_token(secret: bytes, session: str) -> str:
    """The token a console page sends back in `X-CSRF-Token`: HMAC-SHA-256, hex."""
    named = b"csrf\x00" + session.encode("utf-8", "surrogatepass")
    return hmac.new(secret, named, hashlib.sha256).hexdigest()


def is_our_page(request: BrowserRequest, session: str, secret: bytes, origin: str) -> bool:
    """Whether a request with this session may be believed to come from the console itself."""
    if request.method in SAFE_METHODS:
        return request.fetch_site != "cross-site"
    if request.method not in CHANGING_METHODS or request.origin != origin:
        return False
    given = (request.csrf_token or "").encode("utf-8", "surrogatepass")
    return hmac.compare_digest(given, csrf_token(secret, session).encode())
