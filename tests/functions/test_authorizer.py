"""Who is asking, against a real database: every wrong credential is the same 401."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.access import store
from judgment.access.credentials import Authenticator, Console
from judgment.access.sessions import COOKIE, csrf_token
from judgment.access.tokens import OwnerTokens, SigningKeys
from judgment.contract.principal import Principal
from judgment.contract.routes import ROUTES
from judgment.db.connection import Database
from judgment.entry.authorizing import AuthorizerDoor
from judgment.entry.observability import Telemetry
from judgment.kit.errors import Unavailable
from tests.fakes.events import STAGE_ARN, authorizer_event
from tests.fakes.issuer import ADMIN_CLAIM, AUDIENCE, ISSUER, FakeIssuer
from tests.fakes.people import Person, make_person, run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

ORIGIN = "https://console.example"
SECRET = b"session secret"
PROFILE = "/api/agent/v1/profile"


class Harness:
    """The authorizer over a real database and an issuer in this process."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.issuer = FakeIssuer()
        self.postgres = Database(database.url("judgment_authorizer"))
        tokens = OwnerTokens(SigningKeys(ISSUER, self.issuer.fetch), ISSUER, AUDIENCE, ADMIN_CLAIM)
        console = Console(ORIGIN, lambda: SECRET)
        authenticator = Authenticator(self.postgres.statement, store, tokens, console)
        self.door = AuthorizerDoor(authenticator, Telemetry("authorizer"))

    def ask(self, method: str, resource: str, **headers: str | list[str]) -> dict[str, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.door(authorizer_event(method, resource, headers=named), None)

    def principal(self, method: str, resource: str, **headers: str | list[str]) -> Principal:
        return Principal.from_context(self.ask(method, resource, **headers)["context"])

    def refuses(self, method: str, resource: str, **headers: str | list[str]) -> None:
        with pytest.raises(Exception, match=r"^Unauthorized$"):
            self.ask(method, resource, **headers)


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.postgres.close()


@pytest.fixture
def person(module_database: TestDatabase) -> Person:
    return make_person(module_database)


@pytest.mark.promise("000-4-validate", "R-19")
def test_a_live_key_is_allowed_for_the_stage_with_its_owner_as_context(h: Harness, person: Person):
    answer = h.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")
    (statement,) = answer["policyDocument"]["Statement"]
    assert (statement["Effect"], statement["Resource"]) == ("Allow", f"{STAGE_ARN}/*")
    assert Principal.from_context(answer["context"]) == person.agent
    assert answer["principalId"] == str(person.user_id)
    assert all(isinstance(value, str) for value in answer["context"].values())
    assert person.key not in repr(answer)


@pytest.mark.promise("P1-refuse-credentials", "R-2", "000-12-adversarial")
def test_missing_malformed_unknown_revoked_expired_and_orphaned_keys_are_the_same_401(
    h: Harness, capsys: pytest.CaptureFixture[str]
):
    revoked = make_person(h.database)
    run_as_admin(
        h.database,
        "UPDATE public.agent_api_keys SET revoked_at = now() WHERE id = %s",
        revoked.key_id,
    )
    expired = make_person(h.database, expires_in=timedelta(hours=1))
    run_as_admin(
        h.database,
        "UPDATE public.agent_api_keys SET expires_at = now() WHERE id = %s",
        expired.key_id,
    )
    erased = make_person(h.database)
    run_as_admin(h.database, "DELETE FROM auth.users WHERE id = %s", erased.user_id)
    for key in ("sync_" + "x" * 43, "sync_", "x", revoked.key, expired.key, erased.key):
        h.refuses("GET", PROFILE, Authorization=f"Bearer {key}")
        assert key not in capsys.readouterr().out or len(key) < 8
    h.refuses("GET", PROFILE)
    h.refuses("GET", PROFILE, Authorization=f"Basic {revoked.key}")


@pytest.mark.promise("P1-accept-3")
def test_revocation_holds_on_the_next_request(h: Harness, person: Person):
    h.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")
    run_as_admin(
        h.database,
        "UPDATE public.agent_api_keys SET revoked_at = now() WHERE id = %s",
        person.key_id,
    )
    h.refuses("GET", PROFILE, Authorization=f"Bearer {person.key}")


@pytest.mark.promise("P1-6-touch")
def test_last_use_is_written_at_most_once_a_minute(h: Harness, person: Person):
    def last_used() -> Any:
        with psycopg.connect(h.database.admin_url) as admin:
            found = admin.execute(
                "SELECT last_used_at, xmin::text FROM public.agent_api_keys WHERE id = %s",
                (person.key_id,),
            )
            return found.fetchone()

    assert last_used()[0] is None
    h.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")
    first = last_used()
    assert first[0] is not None
    h.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")
    assert last_used() == first
    run_as_admin(
        h.database,
        "UPDATE public.agent_api_keys SET last_used_at = now() - interval '61 s' WHERE id = %s",
        person.key_id,
    )
    h.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")
    assert last_used()[0] > first[0]


@pytest.mark.promise("P1-refuse-credentials")
def test_each_kind_of_credential_opens_its_own_routes_only(h: Harness, person: Person):
    jwt = h.issuer.sign()
    for route in ROUTES:
        if route.method == "ANY":
            continue
        good, wrong = (person.key, jwt) if route.auth == "agent" else (jwt, person.key)
        if route.auth != "none":
            h.ask(route.method, route.path, Authorization=f"Bearer {good}")
        else:
            h.refuses(route.method, route.path, Authorization=f"Bearer {good}")
        h.refuses(route.method, route.path, Authorization=f"Bearer {wrong}")


@pytest.mark.promise("R-17")
def test_an_owners_first_call_makes_their_rows_and_the_admin_claim_is_passed_on(h: Harness):
    subject = str(uuid.uuid4())
    claims = h.issuer.claims(sub=subject, **{ADMIN_CLAIM: True})
    who = h.principal("GET", "/api/v1/keys", Authorization=f"Bearer {h.issuer.sign(claims)}")
    assert (str(who.user_id), who.kind, who.is_admin) == (subject, "owner", True)
    with psycopg.connect(h.database.admin_url) as admin:
        for table, column in (("public.profiles", "id"), ("judgment.owners", "user_id")):
            found = admin.execute(
                f"SELECT count(*) FROM {table} WHERE {column} = %s".encode(), (subject,)
            ).fetchone()
            assert found == (1,)


def test_an_owner_without_the_admin_claim_is_allowed_to_ask_and_the_door_will_refuse(h: Harness):
    jwt = h.issuer.sign()
    who = h.principal("GET", "/api/admin/v1/flags", Authorization=f"Bearer {jwt}")
    assert not who.is_admin


@pytest.mark.promise("R-17", "P1-refuse-session")
def test_the_console_session_works_on_owner_routes_with_its_token_and_origin(h: Harness):
    jwt = h.issuer.sign()
    cookie = f"theme=dark; {COOKIE}={jwt}"
    token = csrf_token(SECRET, jwt)
    h.ask("GET", "/api/v1/keys", Cookie=cookie)
    h.ask("POST", "/api/v1/keys", Cookie=cookie, Origin=ORIGIN, X_CSRF_Token=token)
    h.refuses("POST", "/api/v1/keys", Cookie=cookie, Origin=ORIGIN)
    h.refuses("POST", "/api/v1/keys", Cookie=cookie, X_CSRF_Token=token)
    h.refuses(
        "POST", "/api/v1/keys", Cookie=cookie, Origin="https://evil.example", X_CSRF_Token=token
    )
    h.refuses("GET", "/api/v1/keys", Cookie=cookie, Sec_Fetch_Site="cross-site")
    h.refuses("GET", PROFILE, Cookie=cookie)


def test_two_authorization_headers_are_refused(h: Harness, person: Person):
    bearer = f"Bearer {person.key}"
    h.refuses("GET", PROFILE, Authorization=[bearer, bearer])


@pytest.mark.promise("000-10.3", "000-10.3-correlation")
def test_the_wire_log_learns_how_and_under_which_id(h: Harness, person: Person):
    bearer = f"Bearer {person.key}"
    direct = h.ask("GET", PROFILE, Authorization=bearer, X_Correlation_Id="c-1")["context"]
    assert (direct["via"], direct["correlation_id"]) == ("direct", "c-1")
    wrapped = h.ask("GET", PROFILE, Authorization=bearer, X_Judgment_Via="mcp")["context"]
    assert wrapped["via"] == "mcp"
    assert h.ask("POST", "/mcp", Authorization=bearer)["context"]["via"] == "mcp"
    forged = h.ask("GET", PROFILE, Authorization=bearer, X_Correlation_Id='"} evil')["context"]
    assert forged["correlation_id"] == "11111111-2222-4333-8444-555555555555"


@pytest.mark.promise("P1-refuse-outage", "R-19")
def test_an_outage_is_not_a_401(h: Harness, person: Person, capsys: pytest.CaptureFixture[str]):
    h.postgres.close()
    dead = Harness(h.database)
    dead.postgres = Database("postgresql://judgment_authorizer@127.0.0.1:1/judgment")
    dead.door = AuthorizerDoor(
        Authenticator(
            dead.postgres.statement,
            store,
            OwnerTokens(SigningKeys(ISSUER, dead.issuer.fetch), ISSUER, AUDIENCE, ADMIN_CLAIM),
            Console(ORIGIN, lambda: SECRET),
        ),
        Telemetry("authorizer"),
    )
    with pytest.raises(Unavailable):
        dead.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")
    h.issuer.down = True
    with pytest.raises(Unavailable):
        h.ask("GET", "/api/v1/keys", Authorization=f"Bearer {h.issuer.sign()}")
    printed = capsys.readouterr().out
    assert '"Unavailable":[1.0]' in printed
    assert '"CredentialRejected"' not in printed
    h.ask("GET", PROFILE, Authorization=f"Bearer {person.key}")


def test_a_rejection_is_counted_so_that_the_alarm_on_errors_can_leave_it_out(
    h: Harness, capsys: pytest.CaptureFixture[str]
):
    h.refuses("GET", PROFILE, Authorization="Bearer sync_wrong")
    assert '"CredentialRejected":[1.0]' in capsys.readouterr().out
