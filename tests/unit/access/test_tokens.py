"""An owner's token is believed only when the one issuer signed it, for us, for now."""

from __future__ import annotations

import base64
import json
import uuid
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest

from judgment.access.tokens import (
    FAILURES_PER_MINUTE,
    KEYS_FRESH_SECONDS,
    REFETCHES_PER_MINUTE,
    OwnerTokens,
    SigningKeys,
    owner_id,
)
from judgment.kit.errors import Unauthorized, Unavailable
from tests.fakes.issuer import ADMIN_CLAIM, AUDIENCE, ISSUER, FakeIssuer


class Harness:
    """A verifier over a fake issuer, with its cache's clock in the test's hand."""

    def __init__(self, issuer: FakeIssuer, admin_claim: str = ADMIN_CLAIM):
        self.monotonic = 1000.0
        self.issuer = issuer
        keys = SigningKeys(ISSUER, issuer.fetch, lambda: self.monotonic)
        self.tokens = OwnerTokens(keys, ISSUER, AUDIENCE, admin_claim)


@pytest.fixture
def h() -> Harness:
    return Harness(FakeIssuer())


@pytest.mark.promise("R-17")
@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA"])
def test_a_good_token_names_its_owner(algorithm: str):
    h = Harness(FakeIssuer(algorithm))
    token = h.tokens.verify(h.issuer.sign())
    assert str(token.user_id) == h.issuer.claims()["sub"]
    assert (token.issuer, token.is_admin) == (ISSUER, False)


def unsigned(claims: dict[str, Any], head: dict[str, Any]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=") for p in (head, claims)]
    return b".".join([*parts, b""]).decode()


@pytest.mark.promise("P1-refuse-session")
@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1_000_000_000},
        {"exp": None},
        {"exp": "soon"},
        {"exp": True},
        {"nbf": 99_999_999_999},
        {"aud": "another"},
        {"aud": None},
        {"aud": ["a", "b"]},
        {"iss": "https://evil.example"},
        {"iss": ISSUER + "/"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "s" * 256},
    ],
    ids=repr,
)
def test_expired_early_elsewhere_or_nameless_tokens_are_refused(
    h: Harness, changes: dict[str, Any]
):
    with pytest.raises(Unauthorized):
        h.tokens.verify(h.issuer.sign(h.issuer.claims(**changes)))


def test_the_last_second_counts_and_the_next_does_not():
    issuer = FakeIssuer()
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    keys = SigningKeys(ISSUER, issuer.fetch)
    tokens = OwnerTokens(keys, ISSUER, AUDIENCE, ADMIN_CLAIM, lambda: now)
    tokens.verify(issuer.sign(issuer.claims(exp=int(now.timestamp()) + 1)))
    with pytest.raises(Unauthorized):
        tokens.verify(issuer.sign(issuer.claims(exp=int(now.timestamp()))))


@pytest.mark.promise("P1-refuse-session")
def test_forged_tokens_are_refused(h: Harness):
    good = h.issuer.sign()
    stranger = FakeIssuer()
    public = h.issuer.published[0]
    confused = jwt.encode(h.issuer.claims(), public["x"], "HS256", {"kid": h.issuer.kid})
    for forged in (
        good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB"),
        good.rpartition(".")[0] + ".",
        stranger.sign(kid=h.issuer.kid),
        unsigned(h.issuer.claims(), {"alg": "none", "kid": h.issuer.kid}),
        unsigned(h.issuer.claims(), {"alg": "None", "kid": h.issuer.kid}),
        unsigned(h.issuer.claims(), {"alg": "ES256", "kid": h.issuer.kid}),
        unsigned(h.issuer.claims(), {"alg": "ES256"}),
        unsigned(h.issuer.claims(), {"alg": ["ES256"], "kid": {"a": 1}}),
        confused,
        "not a token",
        "a.b.c",
        "\ud800.b.c",
        "",
        "x" * 10_000,
        "sync_" + "k" * 43,
    ):
        with pytest.raises(Unauthorized):
            h.tokens.verify(forged)


@pytest.mark.promise("P1-refuse-session")
@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS512", "ES384", "", None, ["ES256"]])
def test_an_algorithm_we_do_not_accept_is_not_worth_a_question(h: Harness, algorithm: Any):
    with pytest.raises(Unauthorized):
        h.tokens.verify(unsigned(h.issuer.claims(), {"alg": algorithm, "kid": h.issuer.kid}))
    assert h.issuer.fetches == []


def test_an_algorithm_we_do_not_accept_is_refused_even_when_published():
    issuer = FakeIssuer("RS256")
    for entry in issuer.published:
        entry["alg"] = "RS512"
    h = Harness(issuer)
    with pytest.raises(Unauthorized):
        h.tokens.verify(issuer.sign())


@pytest.mark.promise("R-17")
def test_keys_are_kept_ten_minutes_and_a_new_key_is_found_at_once(h: Harness):
    h.tokens.verify(h.issuer.sign())
    h.monotonic += KEYS_FRESH_SECONDS - 1
    h.tokens.verify(h.issuer.sign())
    assert len(h.issuer.fetches) == 2
    h.issuer.rotate()
    h.tokens.verify(h.issuer.sign())
    assert len(h.issuer.fetches) == 4
    h.monotonic += KEYS_FRESH_SECONDS
    h.tokens.verify(h.issuer.sign())
    assert len(h.issuer.fetches) == 6


def test_a_key_taken_back_is_refused_within_ten_minutes(h: Harness):
    old = h.issuer.sign()
    h.tokens.verify(old)
    h.issuer.rotate(keep=False)
    h.monotonic += KEYS_FRESH_SECONDS
    with pytest.raises(Unauthorized):
        h.tokens.verify(old)


@pytest.mark.promise("P1-refuse-session")
@pytest.mark.parametrize("subject", ["a\x00b", "\ud800", "a\nb"])
def test_a_subject_that_cannot_be_stored_is_401_and_no_outage(h: Harness, subject: str):
    with pytest.raises(Unauthorized):
        h.tokens.verify(h.issuer.sign(h.issuer.claims(sub=subject)))


def test_strangers_tokens_do_not_make_us_hammer_the_issuer(h: Harness):
    h.tokens.verify(h.issuer.sign())
    for n in range(50):
        with pytest.raises(Unauthorized):
            h.tokens.verify(h.issuer.sign(kid=f"unknown-{n}"))
    assert len(h.issuer.fetches) == 2 * (1 + REFETCHES_PER_MINUTE)
    h.issuer.rotate()
    h.monotonic += 60
    h.tokens.verify(h.issuer.sign())


def test_an_issuer_that_is_down_is_not_waited_for_by_every_stranger(h: Harness):
    h.issuer.down = True
    for _ in range(50):
        with pytest.raises(Unavailable):
            h.tokens.verify(h.issuer.sign())
    assert len(h.issuer.fetches) == FAILURES_PER_MINUTE
    h.issuer.down = False
    h.monotonic += 60
    h.tokens.verify(h.issuer.sign())


@pytest.mark.promise("P1-refuse-session")
def test_an_unreachable_issuer_is_an_outage_and_kept_keys_go_on_working(h: Harness):
    h.issuer.down = True
    with pytest.raises(Unavailable):
        h.tokens.verify(h.issuer.sign())
    h.issuer.down = False
    h.tokens.verify(h.issuer.sign())
    h.issuer.down = True
    h.tokens.verify(h.issuer.sign())
    with pytest.raises(Unavailable):
        h.tokens.verify(h.issuer.sign(kid="unknown"))
    h.monotonic += KEYS_FRESH_SECONDS
    with pytest.raises(Unavailable):
        h.tokens.verify(h.issuer.sign())
    h.issuer.down = False
    h.tokens.verify(h.issuer.sign())


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://evil.example", "jwks_uri": ISSUER + "/keys"},
        {"issuer": ISSUER, "jwks_uri": "http://id.example/keys"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"},
        {"issuer": ISSUER},
    ],
)
def test_a_discovery_document_that_points_elsewhere_is_not_followed(discovery: dict[str, str]):
    fetched: list[str] = []

    def fetch(url: str) -> dict[str, Any]:
        fetched.append(url)
        return discovery

    tokens = OwnerTokens(SigningKeys(ISSUER, fetch), ISSUER, AUDIENCE, ADMIN_CLAIM)
    with pytest.raises(Unavailable):
        tokens.verify(FakeIssuer().sign())
    assert len(fetched) == 1


def test_keys_we_cannot_read_do_not_hide_the_ones_we_can(h: Harness):
    h.issuer.published[:0] = [
        "text",
        None,
        {"kid": "odd", "kty": "XYZ"},
        {"kid": "bad", "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kid": "none"},
        {"kid": "enc", "kty": "EC", "use": "enc"},
        {"kty": "EC"},
        {"kid": "short", "kty": "oct", "k": "c2VjcmV0", "alg": "HS256"},
    ]
    h.tokens.verify(h.issuer.sign())


@pytest.mark.parametrize("published", ["text", None, {"kid": "x"}, 5])
def test_keys_that_are_no_list_are_an_outage(h: Harness, published: Any):
    token = h.issuer.sign()
    h.issuer.published = published
    with pytest.raises(Unavailable):
        h.tokens.verify(token)


@pytest.mark.promise("R-17")
@pytest.mark.parametrize(
    ("setting", "claims", "admin"),
    [
        ("judgment_admin", {"judgment_admin": True}, True),
        ("judgment_admin", {"judgment_admin": "true"}, False),
        ("judgment_admin", {"judgment_admin": 1}, False),
        ("judgment_admin", {}, False),
        ("groups=admins", {"groups": ["users", "admins"]}, True),
        ("groups=admins", {"groups": "admins"}, True),
        ("groups=admins", {"groups": ["not-admins"]}, False),
        ("groups=admins", {"groups": True}, False),
        ("groups=admins", {}, False),
    ],
)
def test_only_the_named_claim_makes_an_admin(setting: str, claims: dict[str, Any], admin: bool):
    h = Harness(FakeIssuer(), setting)
    assert h.tokens.verify(h.issuer.sign(h.issuer.claims(**claims))).is_admin is admin


@pytest.mark.promise("R-17")
def test_a_uuid_subject_is_the_owner_and_any_other_becomes_one_per_issuer():
    subject = str(uuid.uuid4())
    assert str(owner_id(ISSUER, subject)) == subject
    named = owner_id(ISSUER, "auth0|42")
    assert named == owner_id(ISSUER, "auth0|42")
    assert named != owner_id("https://other.example", "auth0|42")
    assert named.version == 5
