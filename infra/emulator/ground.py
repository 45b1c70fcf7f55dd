"""What an emulator deployment stands on: the emulator, a real Postgres, a real OIDC issuer."""

from __future__ import annotations

import datetime
import ipaddress
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from infra.emulator.domain import Domain
from infra.local.database import own_database, prepare
from infra.local.issuer import ADMIN_CLAIM, AUDIENCE, IssuerApp, LocalIssuer
from infra.local.ministack import ministack, wait_until_ready
from infra.local.places import Places
from infra.local.ports import remembered_ports
from infra.local.provision import aws_environment
from judgment.db.roles import LOGIN_ROLES

_SERVER_SECONDS = 10.0
_CERTIFICATE_DAYS = 2
_PARTS = ("aws", "postgres", "issuer", "domain")


@dataclass(frozen=True)
class Ground:
    """Addresses and files of one run.

    `domain` serves at `address` once its target is set; `certificate` is the emulator's own when
    it speaks TLS.
    """

    endpoint: str
    environ: dict[str, str]
    issuer: LocalIssuer
    context: dict[str, str]
    scratch: Path
    admin_url: str
    domain: Domain
    address: str
    certificate: Path | None


@contextmanager
def ground(state: Path, *, strict: bool) -> Iterator[Ground]:
    """Start everything over an empty `state` folder; stop it all afterwards.

    `strict`: the emulator speaks TLS and evaluates IAM policies. Call from the main thread.
    """
    shutil.rmtree(state, ignore_errors=True)
    places = Places(state)
    places.make()
    ports = remembered_ports(places.ports, dict.fromkeys(_PARTS, 0))
    with ExitStack() as undo:
        certificate = _certificate(places.scratch) if strict else None
        child = ministack(places, ports["aws"], _strict_settings(certificate))
        child.start()
        undo.callback(child.stop)
        database = own_database(places, ports["postgres"])
        undo.callback(database.stop)
        prepare(database)
        issuer = LocalIssuer(places.issuer, f"http://127.0.0.1:{ports['issuer']}")
        issuer.begin()
        domain = Domain(certificate)
        undo.enter_context(_served(IssuerApp(issuer), ports["issuer"]))
        undo.enter_context(_served(domain, ports["domain"]))
        wait_until_ready(child, ports["aws"], tls=strict)
        urls = places.scratch / "database-urls.json"
        urls.write_text(json.dumps({role: database.url(role) for role in LOGIN_ROLES}))
        endpoint = f"{'https' if strict else 'http'}://127.0.0.1:{ports['aws']}"
        yield Ground(
            endpoint=endpoint,
            environ={**aws_environment(endpoint), **_trust(certificate)},
            issuer=issuer,
            context={
                "local": "true",
                "oidc_issuer": issuer.url,
                "oidc_audience": AUDIENCE,
                "oidc_admin_claim": ADMIN_CLAIM,
                "database_urls": str(urls),
            },
            scratch=places.scratch,
            admin_url=database.admin_url,
            domain=domain,
            address=f"http://127.0.0.1:{ports['domain']}",
            certificate=certificate,
        )


def _strict_settings(certificate: Path | None) -> dict[str, str]:
    if certificate is None:
        return {}
    return {
        "AUTH": "true",
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(certificate),
        "MINISTACK_SSL_KEY": str(certificate.with_suffix(".key")),
        **_trust(certificate),
    }


def _trust(certificate: Path | None) -> dict[str, str]:
    if certificate is None:
        return {}
    names = ("AWS_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
    return dict.fromkeys(names, str(certificate))


def _certificate(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "judgment emulator")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=_CERTIFICATE_DAYS))
        .add_extension(x509.SubjectAlternativeName([address, x509.DNSName("localhost")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "emulator.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = path.with_suffix(".key")
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@contextmanager
def _served(app: Any, port: int) -> Iterator[None]:
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, lifespan="off", log_level="warning")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=_SERVER_SECONDS)
    pause = threading.Event()
    while not server.started:
        if datetime.datetime.now(datetime.UTC) > deadline or not thread.is_alive():
            raise RuntimeError("a local server did not start")
        pause.wait(0.02)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(_SERVER_SECONDS)
