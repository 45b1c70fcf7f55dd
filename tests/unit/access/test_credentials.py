"""Each route takes its own kind of credential, and every wrong key costs the same."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from judgment.access.credentials import Authenticator, Console, Presented
from judgment.access.sessions import BrowserRequest, csrf_token
from judgment.access.tokens import OwnerToken
from judgment.kit.errors import Unauthorized
from judgment.kit.hashing import sha256_hex

KEY = "sync_" + "k" * 43
JWT = "header.claims.signature"
OWNER = uuid.uuid4()
KEY_ID = uuid.uuid4()
SECRET = b"secret"
ORIGIN = "https://console.example"


class Rows:
    """One valid key; remembers every statement."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, Any]] = []
        self.may_add = True

    def resolve_key(self, tx: Any, key_hash: str) -> Mapping[str, Any] | None:
        self.statements.append((tx, key_hash))
        if key_hash != sha256_hex(KEY):
            return None
        return {"key_id": KEY_ID, "user_id": OWNER, "prefix": KEY[:12], "scopes": ["profile:read"]}

    def ensure_owner(self, tx: Any, user_id: uuid.UUID, issuer: str, subject: str) -> bool:
        self.statements.append((tx, (user_id, issuer, subject)))
        return self.may_add


class Tokens:
    """Believes exactly one JWT."""

    def verify(self, token: str) -> OwnerToken:
        if token != JWT:
            raise Unauthorized
        return OwnerToken(OWNER, "https://id.example", "sub", is_admin=True)


@contextmanager
def begin() -> Generator[Any]:
    yield "tx"


def browser(method: str = "GET", **given: str | None) -> BrowserRequest:
    return BrowserRequest(
        method, given.get("origin"), given.get("fetch_site"), given.get("csrf_token")
    )


def authenticator(rows: Rows) -> Authenticator:
    return Authenticator(begin, rows, Tokens(), Console(ORIGIN, lambda: SECRET))


def bearer(text: str) -> Presented:
    return Presented([f"Bearer {text}"], None, browser())


def test_an_agent_key_names_its_owner_and_scopes():
    rows = Rows()
    who = authenticator(rows).authenticate("agent", bearer(KEY))
    assert (who.kind, who.user_id, who.key_id) == ("agent", OWNER, KEY_ID)
    assert (who.key_prefix, who.scopes) == (KEY[:12], frozenset({"profile:read"}))


@pytest.mark.parametrize("auth", ["owner", "admin", "either"])
def test_an_owners_token_names_its_owner_and_makes_their_rows(auth: Any):
    rows = Rows()
    who = authenticator(rows).authenticate(auth, bearer(JWT))
    assert (who.kind, who.user_id, who.is_admin) == ("owner", OWNER, True)
    assert rows.statements == [("tx", (OWNER, "https://id.example", "sub"))]


def test_a_person_that_an_existing_app_does_not_know_is_nobody_here():
    rows = Rows()
    rows.may_add = False
    with pytest.raises(Unauthorized):
        authenticator(rows).authenticate("owner", bearer(JWT))


def test_either_takes_both():
    rows = Rows()
    assert authenticator(rows).authenticate("either", bearer(KEY)).kind == "agent"
    assert authenticator(rows).authenticate("either", bearer(JWT)).kind == "owner"


@pytest.mark.promise("P1-refuse-credentials", "R-19")
@pytest.mark.parametrize("wrong", [JWT, "sync_" + "x" * 43, "sync_", "x", KEY + "x", KEY.upper()])
def test_whatever_is_presented_as_a_key_costs_the_same_one_lookup(wrong: str):
    rows = Rows()
    with pytest.raises(Unauthorized) as refused:
        authenticator(rows).authenticate("agent", bearer(wrong))
    assert rows.statements == [("tx", sha256_hex(wrong))]
    assert refused.value.message == Unauthorized.default


@pytest.mark.promise("P1-refuse-credentials")
@pytest.mark.parametrize(
    "authorization",
    [
        [],
        [""],
        ["Bearer"],
        ["Bearer "],
        [KEY],
        [f"Basic {KEY}"],
        [f"Token {KEY}"],
        [f"Bearer {KEY}", f"Bearer {KEY}"],
        [f"Bearer\t{KEY}"],
    ],
    ids=repr,
)
@pytest.mark.parametrize("auth", ["agent", "owner", "admin", "either"])
def test_no_or_an_unreadable_credential_is_refused(authorization: list[str], auth: Any):
    rows = Rows()
    with pytest.raises(Unauthorized):
        authenticator(rows).authenticate(auth, Presented(authorization, None, browser()))
    assert rows.statements == []


@pytest.mark.promise("P1-refuse-credentials")
@pytest.mark.parametrize("auth", ["owner", "admin"])
def test_an_agent_key_opens_no_owner_route(auth: Any):
    with pytest.raises(Unauthorized):
        authenticator(Rows()).authenticate(auth, bearer(KEY))


def test_the_scheme_has_no_case():
    who = authenticator(Rows()).authenticate("agent", Presented([f"bEARER {KEY}"], None, browser()))
    assert who.user_id == OWNER


@pytest.mark.promise("R-17", "P1-refuse-session")
def test_the_consoles_session_opens_owner_routes_and_never_agent_routes():
    good = browser("POST", origin=ORIGIN, csrf_token=csrf_token(SECRET, JWT))
    us = authenticator(Rows())
    assert us.authenticate("owner", Presented([], JWT, good)).user_id == OWNER
    assert us.authenticate("admin", Presented([], JWT, browser())).is_admin
    for auth, session, request in (
        ("agent", JWT, good),
        ("agent", KEY, good),
        ("owner", None, good),
        ("owner", JWT, browser("POST", origin=ORIGIN)),
        ("owner", JWT, browser("POST", csrf_token=csrf_token(SECRET, JWT))),
        ("owner", JWT, browser("GET", fetch_site="cross-site")),
        ("either", KEY, browser()),
    ):
        with pytest.raises(Unauthorized):
            us.authenticate(auth, Presented([], session, request))


def test_a_bad_bearer_is_not_rescued_by_a_good_session():
    good = browser("POST", origin=ORIGIN, csrf_token=csrf_token(SECRET, JWT))
    with pytest.raises(Unauthorized):
        authenticator(Rows()).authenticate("owner", Presented(["Bearer wrong"], JWT, good))


def test_an_open_route_authenticates_nobody():
    with pytest.raises(Unauthorized):
        authenticator(Rows()).authenticate("none", bearer(KEY))
