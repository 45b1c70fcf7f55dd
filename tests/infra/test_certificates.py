"""The authorities by which a door knows its database."""

from __future__ import annotations

import pytest
from cryptography import x509

from infra.assets import AssetMissing
from infra.certificates import CertificatesUnreadable, authorities, rds_authorities
from tests.infra.unreachable import skip_if_unreachable


@pytest.mark.promise("P1-1-assets", "P1-9")
def test_the_authorities_of_every_region_are_read_from_the_pinned_file() -> None:
    try:
        found = rds_authorities()
    except AssetMissing as missing:
        skip_if_unreachable(missing)
    names = {
        certificate.subject.rfc4514_string()
        for certificate in x509.load_pem_x509_certificates(found)
    }
    for region in ("eu-central-1", "us-east-1", "ap-southeast-2"):
        assert any(f"CN=Amazon RDS {region} Root CA RSA2048 G1" in name for name in names)


@pytest.mark.parametrize("script", ["", "exports.defaults = ['x'];"])
def test_a_script_without_certificates_is_refused(script: str) -> None:
    with pytest.raises(CertificatesUnreadable):
        authorities(script)


def test_a_broken_certificate_is_refused() -> None:
    script = r"['-----BEGIN CERTIFICATE-----\n' + 'AAAA\n' + '-----END CERTIFICATE-----\n']"
    with pytest.raises(CertificatesUnreadable):
        authorities(script)
