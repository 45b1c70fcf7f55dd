"""The store's sign-in on 127.0.0.1, by TLS: device codes, tokens, refresh tokens that rotate.

A refresh token that is used a second time ends the session, as with the real issuer; that is what
the package's lock is for.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import itertools
import json
import ssl
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fakes.fulcra_account import Refused
from tests.fakes.listening import Listening, QuietHandler

CLIENT = "48p3VbMnr5kMuJAUe9gJ9vjmdWLdnqZt"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SECRET = "do-not-print"


def token(userid: str, serial: int, expires_at: float) -> str:
    """A bearer in the form of a JWT, with the claims the package reads; nobody signed it."""
    claims = {"fulcradynamics.com/userid": userid, "exp": int(expires_at), "jti": serial}
    parts = [{"alg": "none"}, claims]
    coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts]
    return ".".join([*coded, SECRET])


@dataclass
class Sessions:
    """Who may come in. `lifetime` is of an access token, in seconds."""

    userid: str
    lifetime: float = 3600.0
    devices: dict[str, str] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    spent: set[str] = field(default_factory=set)
    valid: dict[str, float] = field(default_factory=dict)
    serials: Any = field(default_factory=lambda: itertools.count(1))

    def issue(self) -> dict[str, Any]:
        """A pair of tokens."""
        serial = next(self.serials)
        expires_at = time.time() + self.lifetime
        access = token(self.userid, serial, expires_at)
        refresh = f"refresh-{serial}-{SECRET}"
        self.valid[access] = expires_at
        self.fresh.add(refresh)
        return {"access_token": access, "refresh_token": refresh, "expires_in": self.lifetime}

    def check(self, bearer: str | None) -> None:
        """401 unless this bearer was given out and has not run out."""
        if self.valid.get(bearer or "", 0.0) <= time.time():
            raise Refused(401, "access denied")

    def end(self) -> None:
        """Nobody is signed in any more."""
        self.valid.clear()
        self.spent |= self.fresh
        self.fresh.clear()

    def refresh(self, presented: str) -> dict[str, Any]:
        """New tokens for a fresh refresh token; one that was used before ends the session."""
        if presented not in self.fresh:
            if presented in self.spent:
                self.end()
            raise Refused(403, ("invalid_grant", "Unknown or invalid refresh token."))
        self.fresh.discard(presented)
        self.spent.add(presented)
        return self.issue()

    def redeem(self, device: str) -> dict[str, Any]:
        """Tokens for a device code that somebody approved."""
        state = self.devices.get(device, "expired_token")
        if state != "approved":
            raise Refused(403, (state, state.replace("_", " ")))
        del self.devices[device]
        return self.issue()

    def device(self) -> dict[str, Any]:
        """A device code that nobody has approved yet."""
        serial = next(self.serials)
        code = f"device-{serial}-{SECRET}"
        self.devices[code] = "authorization_pending"
        return {
            "device_code": code,
            "user_code": f"CODE-{serial}",
            "verification_uri_complete": f"https://login.example/activate?user_code=CODE-{serial}",
            "expires_in": 900,
            "interval": 0,
        }


class FulcraLogin(Listening):
    """Use as a context manager. `domain` is for the package, `certificate` for SSL_CERT_FILE."""

    def __init__(self, sessions: Sessions, folder: Path):
        super().__init__(_handler_for(self))
        self.sessions = sessions
        self.refreshed = 0
        self.outage: int | None = None
        self.certificate = folder / "login.pem"
        self.encrypt(_context(self.certificate, folder / "login.key"))

    @property
    def domain(self) -> str:
        """Host and port, as FULCRA_OIDC_DOMAIN takes them."""
        return self.address

    def answer(self, path: str, form: dict[str, str]) -> dict[str, Any]:
        """One request of the device flow."""
        if self.outage is not None:
            raise Refused(self.outage, ("temporarily_unavailable", "later"))
        if form.get("client_id") != CLIENT:
            raise Refused(403, ("unauthorized_client", "unknown client"))
        if path == "/oauth/device/code" and {"audience", "scope"} <= form.keys():
            return self.sessions.device()
        if path == "/oauth/token" and form.get("grant_type") == DEVICE_GRANT:
            return self.sessions.redeem(form.get("device_code", ""))
        if path == "/oauth/token" and form.get("grant_type") == "refresh_token":
            self.refreshed += 1
            return self.sessions.refresh(form.get("refresh_token", ""))
        raise Refused(400, ("invalid_request", "not understood"))


def _handler_for(login: FulcraLogin) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            """A form, answered in JSON."""
            form = dict(urllib.parse.parse_qsl(self.sent().decode()))
            try:
                status, body = 200, login.answer(self.path, form)
            except Refused as refused:
                error, description = refused.detail
                status, body = refused.status, {"error": error, "error_description": description}
            self.give(status, json.dumps(body).encode(), {"Content-Type": "application/json"})

    return Handler


def _context(certificate: Path, key_file: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "login on this machine")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        # Newer Pythons trust no authority that does not say what its key is and is for.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), False)
        .add_extension(_signs(), True)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key_file)
    return context


def _signs() -> x509.KeyUsage:
    """A key that signs certificates, and answers in TLS."""
    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    rest = (*others, "crl_sign", "encipher_only", "decipher_only")
    return x509.KeyUsage(digital_signature=True, key_cert_sign=True, **dict.fromkeys(rest, False))
