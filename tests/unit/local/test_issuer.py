"""The local issuer: discovery, keys, rotation, and its stop switch."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import jwt
import pytest

from infra.local.issuer import ADMIN_CLAIM, AUDIENCE, LocalIssuer

_URL = "http://127.0.0.1:9"
_SUBJECT = UUID("4a0e7f0e-6f5c-4f0a-8f51-1d1b53f7b8a0")


@pytest.fixture
def issuer(tmp_path: Path) -> LocalIssuer:
    """An issuer with one key."""
    made = LocalIssuer(tmp_path / "issuer.json", _URL)
    made.begin()
    return made


def _verified(issuer: LocalIssuer, token: str) -> dict[str, Any]:
    """The claims, checked with nothing but what the issuer publishes."""
    status, discovery = issuer.answer("/.well-known/openid-configuration")
    assert status == 200
    assert discovery["issuer"] == _URL
    _, keys = issuer.answer(discovery["jwks_uri"].removeprefix(_URL))
    kid = jwt.get_unverified_header(token)["kid"]
    key = next((one for one in keys["keys"] if one["kid"] == kid), None)
    if key is None:
        raise jwt.InvalidKeyError(kid)
    return jwt.decode(token, jwt.PyJWK(key), ["ES256"], audience=AUDIENCE, issuer=_URL)


@pytest.mark.promise("R-17")
def test_a_token_verifies_with_what_the_issuer_publishes(issuer: LocalIssuer) -> None:
    claims = _verified(issuer, issuer.token(_SUBJECT))
    assert claims["sub"] == str(_SUBJECT)
    assert ADMIN_CLAIM not in claims
    assert _verified(issuer, issuer.token("other|1", admin=True))[ADMIN_CLAIM] is True


def test_no_private_part_of_a_key_is_published(issuer: LocalIssuer) -> None:
    _, keys = issuer.answer("/.well-known/jwks.json")
    assert set(keys["keys"][0]) == {"kty", "crv", "x", "y", "kid", "alg", "use"}
    assert "PRIVATE" not in json.dumps(keys)


def test_only_its_owner_may_read_the_state(issuer: LocalIssuer, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "issuer.json").stat().st_mode) == 0o600


def test_an_expired_token_and_another_audience_do_not_verify(issuer: LocalIssuer) -> None:
    with pytest.raises(jwt.ExpiredSignatureError):
        _verified(issuer, issuer.token(_SUBJECT, lifetime=timedelta(seconds=-5)))
    with pytest.raises(jwt.InvalidAudienceError):
        _verified(issuer, issuer.token(_SUBJECT, audience="another"))


@pytest.mark.promise("R-17")
def test_rotation_keeps_old_tokens_unless_it_is_told_not_to(issuer: LocalIssuer) -> None:
    before = issuer.token(_SUBJECT)
    issuer.rotate()
    after = issuer.token(_SUBJECT)
    assert jwt.get_unverified_header(before)["kid"] != jwt.get_unverified_header(after)["kid"]
    assert _verified(issuer, before)["sub"] == _verified(issuer, after)["sub"]
    issuer.rotate(keep_old=False)
    with pytest.raises(jwt.InvalidKeyError):
        _verified(issuer, after)


@pytest.mark.promise("R-17")
def test_a_new_start_ends_every_earlier_token(issuer: LocalIssuer) -> None:
    token = issuer.token(_SUBJECT)
    issuer.begin()
    with pytest.raises(jwt.InvalidKeyError):
        _verified(issuer, token)


@pytest.mark.promise("R-17")
def test_the_stop_switch_makes_it_unavailable_until_it_resumes(issuer: LocalIssuer) -> None:
    issuer.stop()
    assert issuer.answer("/.well-known/jwks.json")[0] == 503
    issuer.resume()
    assert issuer.answer("/.well-known/jwks.json")[0] == 200
    assert issuer.answer("/anything")[0] == 404
