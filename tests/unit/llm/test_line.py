"""The line to a provider over TLS, as every hosted one is reached."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from judgment.llm.line import Line, Received, Trouble, retry_after
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Drip, HangUp

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate for 127.0.0.1 that is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a provider")])
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([here]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    path.write_bytes(pem + built.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def server(certificate: Path) -> Iterator[ModelServer]:
    """A scripted provider over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    scripted = ModelServer(always("{}"))
    scripted.encrypt(context)
    with scripted:
        yield scripted


def post(server: ModelServer, context: ssl.SSLContext, seconds: float = 5.0) -> Received | Trouble:
    with Line(f"https://{server.address}/v1", "k", context) as line:
        return line.post("chat", {"model": "m", "messages": []}, seconds)


def test_a_provider_is_reached_over_tls(server: ModelServer, certificate: Path):
    context = ssl.create_default_context(cafile=certificate)
    received = post(server, context)
    assert isinstance(received, Received)
    assert received.body["model"] == "fake-model"
    assert server.headers[0]["Authorization"] == "Bearer k"


def test_one_whose_certificate_nobody_vouches_for_is_not_told_the_key(server: ModelServer):
    assert post(server, ssl.create_default_context()) == Trouble("unreachable", again=True)
    assert server.headers == []


def test_time_is_kept_over_tls_too(server: ModelServer, certificate: Path):
    context = ssl.create_default_context(cafile=certificate)
    server.script = lambda _: Drip(0.05)
    begun = time.monotonic()
    assert post(server, context, 0.6) == Trouble("timeout", again=True)
    server.script = lambda _: HangUp()
    assert post(server, context) == Trouble("unreachable", again=True)
    assert time.monotonic() - begun < 5


def test_one_that_accepts_and_says_nothing_is_left_in_time():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"https://127.0.0.1:{listening.getsockname()[1]}/v1"
        begun = time.monotonic()
        with Line(address, "k", ssl.create_default_context()) as line:
            assert line.post("chat", {"model": "m", "messages": []}, 0.6).code == "timeout"  # type: ignore[union-attr]
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("1.5", 1.5),
        ("-1", 0.0),
        ("inf", None),
        ("nan", None),
        ("soon", None),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 12:00:30 -0000", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("Mon, 99 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_the_header_that_asks_for_a_wait_is_read_in_both_forms(
    header: str | None, seconds: float | None
):
    assert retry_after(header, lambda: NOW) == seconds
