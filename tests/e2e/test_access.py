"""Keys, switches, limits and the account, over HTTP on the running stack."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest

from tests.e2e.somebody import PROFILE, Somebody
from tests.fakes.issuer import FakeIssuer

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack

READS_PER_HOUR = 600


@pytest.fixture
def me(stack: RunningStack, api: httpx.Client) -> Somebody:
    return Somebody(stack, api)


@pytest.fixture
def admin_sql(stack: RunningStack) -> Callable[[str], None]:
    """Runs a statement as the superuser of the stack's database."""

    def run(statement: str) -> None:
        with psycopg.connect(stack.database_url, autocommit=True) as admin:
            admin.execute(statement.encode())

    return run


@pytest.mark.promise("P1-accept-3", "000-10.2")
def test_the_601st_read_of_an_hour_is_refused_exactly_under_32_clients(
    stack: RunningStack, me: Somebody
) -> None:
    """Read twice where the hour turned in between, because then two windows were used."""

    def burst(headers: dict[str, str]) -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=32)
        with (
            httpx.Client(base_url=stack.api_url, timeout=60, limits=limits) as http,
            ThreadPoolExecutor(32) as clients,
        ):
            return list(
                clients.map(
                    lambda _: http.get(PROFILE, headers=headers), range(READS_PER_HOUR + 40)
                )
            )

    answers = burst(me.agent)
    waits = [a.json()["retry_after_seconds"] for a in answers if a.status_code == 429]
    if not waits or max(waits) > 3500:
        answers = burst({"Authorization": f"Bearer {me.mint()['key']}"})
    odd = [(a.text, dict(a.headers)) for a in answers if a.status_code not in (200, 429)]
    assert not odd, (stack.places.logs / "profile_read.log").read_text()[-4000:]
    assert Counter(a.status_code for a in answers) == {200: READS_PER_HOUR, 429: 40}
    for refused in (a for a in answers if a.status_code == 429):
        body = refused.json()
        assert body["code"] == "rate_limited"
        assert 1 <= body["retry_after_seconds"] <= 3600
        assert refused.headers["retry-after"] == str(body["retry_after_seconds"])
    other = {"Authorization": f"Bearer {me.mint()['key']}"}
    assert me.api.get(PROFILE, headers=other).status_code == 200


@pytest.mark.promise("P1-accept-3", "R-6")
def test_a_revoked_key_and_every_switch_show_on_the_very_next_read(
    stack: RunningStack, me: Somebody
) -> None:
    admin = {"Authorization": f"Bearer {stack.admin_token}"}
    off, on = (403, "profile_access_disabled"), (200, None)

    def own(enabled: bool) -> None:
        body = {"enabled": enabled}
        me.api.put("/api/v1/agent-access", json=body, headers=me.headers).raise_for_status()

    def flag(**overrides: bool) -> None:
        body = {"global": True, "user_overrides": overrides}
        me.api.put("/api/admin/v1/flags", json=body, headers=admin).raise_for_status()

    before = me.api.get("/api/admin/v1/flags", headers=admin).json()
    assert me.reads() == on
    own(False)
    assert me.reads() == off
    own(True)
    assert me.reads() == on
    try:
        flag(**{**before["user_overrides"], str(me.user_id): False})
        assert me.reads() == off
    finally:
        flag(**before["user_overrides"])
    assert me.reads() == on
    me.api.delete(f"/api/v1/keys/{me.minted['id']}", headers=me.headers).raise_for_status()
    assert me.reads() == (401, "unauthorized")


def test_flags_are_for_admins(me: Somebody) -> None:
    answer = me.api.get("/api/admin/v1/flags", headers=me.headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.promise("P1-accept-6", "R-33")
def test_export_then_erase_leaves_nothing_to_read_with(me: Somebody) -> None:
    answer = me.api.get("/api/v1/account/export", headers=me.headers)
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[-1]["row"]["cursor"] is None
    tables = {line["table"] for line in lines}
    assert {"public.agent_api_keys", "judgment.owners", "public.profiles"} <= tables
    assert me.minted["key"] not in answer.text
    erased = me.api.delete("/api/v1/account", headers=me.headers)
    assert (erased.status_code, erased.content) == (204, b"")
    assert me.reads() == (401, "unauthorized")
    assert me.api.get("/api/v1/keys", headers=me.headers).json() == {"keys": []}


@pytest.mark.promise("P1-refuse-session", "R-17")
def test_tokens_for_others_of_another_time_or_forged_are_the_one_401(
    stack: RunningStack, me: Somebody
) -> None:
    head, claims, _signature = me.headers["Authorization"].removeprefix("Bearer ").split(".")
    for refused in (
        stack.issuer.token(me.user_id, audience="another"),
        stack.issuer.token(me.user_id, lifetime=timedelta(seconds=-1)),
        f"{head}.{claims}.",
        f"{head}.{claims}.AAAA",
        f"e30.{claims}.",
        "a.b.c",
    ):
        assert me.lists_keys(refused) == (401, "unauthorized")


@pytest.mark.promise("R-17")
def test_a_rotated_issuer_is_believed_at_once(stack: RunningStack, me: Somebody) -> None:
    stack.issuer.rotate()
    assert me.lists_keys(stack.issuer.token(me.user_id)) == (200, None)
    assert me.lists_keys(me.headers["Authorization"].removeprefix("Bearer ")) == (200, None)


@pytest.mark.promise("P1-refuse-session", "R-19")
def test_a_key_that_the_silent_issuer_must_be_asked_for_is_503_until_it_speaks(
    stack: RunningStack, me: Somebody
) -> None:
    """The token's key id is unknown, so that nobody else's token is touched by the silence."""
    unknown = FakeIssuer().sign(kid="unknown")
    stack.issuer.stop()
    try:
        silent = me.lists_keys(unknown)
        assert me.reads() == (200, None)
    finally:
        stack.issuer.resume()
    assert silent == (503, "unavailable")
    assert me.lists_keys(unknown) == (401, "unauthorized")


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize("limit", ["0", "21", "-1", "1e9", "abc", "5&limit=6", "5&user_id=x"])
def test_a_bad_limit_is_400_through_the_gateway_too(me: Somebody, limit: str) -> None:
    answer = me.api.get(f"{PROFILE}/recent-decisions?limit={limit}", headers=me.agent)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


@pytest.mark.promise("P1-refuse-input")
def test_a_body_over_the_limit_is_413_through_the_gateway_too(me: Somebody) -> None:
    big = {"name": "x" * 300_000}
    answer = me.api.post("/api/v1/keys", json=big, headers=me.headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.promise("P1-refuse-outage")
def test_reads_are_served_by_every_worker_after_its_database_connection_was_cut(
    stack: RunningStack, me: Somebody, admin_sql: Callable[[str], None]
) -> None:
    assert me.reads() == (200, None)
    admin_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE usename LIKE 'judgment_%' AND pid <> pg_backend_pid()"
    )
    assert [me.reads() for _ in range(8)] == [(200, None)] * 8
