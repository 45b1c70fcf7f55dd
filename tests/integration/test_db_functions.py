"""The functions in the database: whose a key is, who an owner is, whether agents may read."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.db.connection import Database
from judgment.db.errors import CheckViolated, PermissionDenied

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-3", "P1-6-touch", "R-2", "R-6", "R-17")

RESOLVE = "SELECT * FROM judgment.resolve_agent_api_key(%s)"
VALIDATE = "SELECT public.validate_agent_api_key(%s)"


class House:
    """A database with an owner, seen as several roles."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.admin = psycopg.connect(database.admin_url, autocommit=True)
        names = ("authorizer", "reader", "owner", "worker")
        self.logins = {name: Database(database.url(f"judgment_{name}")) for name in names}
        self.user_id = uuid.uuid4()
        assert self.ensure(self.user_id)

    def ensure(self, user_id: uuid.UUID, subject: str = "s") -> Any:
        with self.logins["authorizer"].transaction() as tx:
            return tx.value("SELECT judgment.ensure_owner(%s, 'iss', %s)", (user_id, subject))

    def key(self, **columns: Any) -> str:
        """Store a key with these columns; its hash."""
        key_hash = uuid.uuid4().hex
        values = {"user_id": self.user_id, "key_hash": key_hash, "name": "n"} | columns
        listed, holes = ", ".join(values), ", ".join(f"%({name})s" for name in values)
        statement = f"INSERT INTO public.agent_api_keys ({listed}) VALUES ({holes})"
        self.admin.execute(statement.encode(), values)
        return key_hash

    def resolve(self, key_hash: str) -> dict[str, Any] | None:
        with self.logins["authorizer"].transaction() as tx:
            return tx.one(RESOLVE, (key_hash,))

    def validate(self, key_hash: str) -> Any:
        with self.logins["authorizer"].transaction() as tx:
            return tx.value(VALIDATE, (key_hash,))

    def used(self, key_hash: str) -> Any:
        row = self.admin.execute(
            "SELECT last_used_at, now() - last_used_at < interval '30 s'"
            " FROM public.agent_api_keys WHERE key_hash = %s",
            (key_hash,),
        ).fetchone()
        assert row
        return row

    def may_read(self, role: str = "reader") -> Any:
        with self.logins[role].transaction(self.user_id, read_only=True) as tx:
            return tx.value("SELECT judgment.agent_access_enabled()")

    def flag(self, value: str) -> None:
        self.admin.execute("UPDATE public.agent_feature_flags SET value = %s::jsonb", (value,))

    def close(self) -> None:
        self.admin.close()
        for login in self.logins.values():
            login.close()


@pytest.fixture
def house(fresh_database: TestDatabase) -> Iterator[House]:
    made = House(fresh_database)
    yield made
    made.close()


def test_a_live_key_says_whose_it_is_and_what_it_may(house: House) -> None:
    key = house.key(prefix="sync_abc", scopes=["profile:read", "preferences:read"])
    found = house.resolve(key)
    assert found
    assert found["user_id"] == house.user_id
    assert found["scopes"] == ["profile:read", "preferences:read"]
    assert found["prefix"] == "sync_abc"
    assert isinstance(found["key_id"], uuid.UUID)
    assert house.validate(key) == house.user_id


@pytest.mark.parametrize(
    "columns",
    [
        {"revoked_at": "2020-01-01"},
        {"expires_at": "2020-01-01"},
        {"expires_at": "2020-01-01", "revoked_at": "2020-01-01"},
    ],
)
def test_a_dead_key_is_as_unknown_as_one_that_never_was(
    house: House, columns: dict[str, Any]
) -> None:
    key = house.key(**columns)
    for tried in (key, "unknown", "", "x" * 10_000, "'; --"):
        assert house.resolve(tried) is None
        assert house.validate(tried) is None
    assert house.used(key)[0] is None


def test_a_key_that_ends_later_works_until_then(house: House) -> None:
    key = house.key(expires_at="2999-01-01")
    assert house.resolve(key)
    house.admin.execute("UPDATE public.agent_api_keys SET expires_at = now()")
    assert house.resolve(key) is None


def test_use_is_noted_at_most_once_a_minute(house: House) -> None:
    key = house.key()
    house.resolve(key)
    first, recent = house.used(key)
    assert recent
    house.resolve(key)
    assert house.used(key)[0] == first
    house.admin.execute(
        "UPDATE public.agent_api_keys SET last_used_at = last_used_at - interval '61 s'"
    )
    house.resolve(key)
    assert house.used(key)[1]
    assert house.used(key)[0] != first


def test_a_key_used_by_many_at_once_makes_nobody_wait(house: House) -> None:
    key = house.key()
    with psycopg.connect(house.database.admin_url) as busy:
        busy.execute("SELECT 1 FROM public.agent_api_keys FOR UPDATE")
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(house.resolve(key)))
        thread.start()
        thread.join(10)
        assert found[0]["user_id"] == house.user_id
        busy.rollback()
    assert house.used(key)[0] is None


def test_known_and_unknown_keys_run_the_same_statements(house: House) -> None:
    """Counted by the server, not timed (ruling 19)."""
    keys = [house.key(), house.key(revoked_at="2020-01-01"), "unknown", ""]
    counts: list[list[Any]] = []
    with psycopg.connect(house.database.url("judgment_authorizer"), autocommit=True) as login:
        login.execute(RESOLVE, ("warm",))
        for key in keys:
            login.execute("BEGIN")
            before = _scans(login)
            login.execute(RESOLVE, (key,))
            counts.append([a - b for a, b in zip(_scans(login), before, strict=True)])
            login.execute("ROLLBACK")
    plans = [[count > 0 for count in line] for line in counts]
    assert all(plan == plans[0] for plan in plans[1:])


def _scans(login: psycopg.Connection[Any]) -> tuple[int, int]:
    row = login.execute(
        "SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'agent_api_keys'"
    ).fetchone()
    assert row
    return row


@pytest.mark.parametrize("scopes", [[], ["profile:write"], ["profile:read", "admin"]])
def test_a_key_holds_only_scopes_that_there_are(house: House, scopes: list[str]) -> None:
    with pytest.raises(CheckViolated), house.logins["owner"].transaction(house.user_id) as tx:
        tx.execute(
            "INSERT INTO public.agent_api_keys (user_id, key_hash, name, scopes)"
            " VALUES (%s, 'h', 'n', %s)",
            (house.user_id, scopes),
        )


@pytest.mark.parametrize("role", ["reader", "owner", "worker"])
@pytest.mark.parametrize("call", [RESOLVE, VALIDATE, "SELECT judgment.ensure_owner(%s, '', '')"])
def test_only_the_authorizer_calls_the_key_functions(house: House, role: str, call: str) -> None:
    with pytest.raises(PermissionDenied), house.logins[role].transaction(house.user_id) as tx:
        tx.all(call, (str(uuid.uuid4()) if "ensure" in call else "hash",))


def test_an_owner_is_made_once_and_keeps_who_they_are(house: House) -> None:
    user_id = uuid.uuid4()
    assert house.ensure(user_id, "first") is True
    assert house.ensure(user_id, "second") is True
    rows = house.admin.execute(
        "SELECT o.issuer, o.subject, o.agent_access_enabled, p.sync_score FROM judgment.owners o"
        " JOIN public.profiles p ON p.id = o.user_id JOIN auth.users u ON u.id = o.user_id"
        " WHERE o.user_id = %s",
        (user_id,),
    ).fetchall()
    assert rows == [("iss", "first", True, 0)]


def test_an_owner_first_seen_twice_at_once_is_one_owner(house: House) -> None:
    user_id, outcome, together = uuid.uuid4(), list[Any](), threading.Barrier(4)

    def call() -> None:
        login = Database(house.database.url("judgment_authorizer"))
        with login.transaction() as tx:
            together.wait(10)
            outcome.append(tx.value("SELECT judgment.ensure_owner(%s, 'iss', 's')", (user_id,)))
        login.close()

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert outcome == [True] * 4


@pytest.mark.parametrize(
    ("everybody", "mine", "own", "expected"),
    [
        ("true", None, True, True),
        ("true", "true", True, True),
        ("false", None, True, False),
        ("false", "true", True, False),
        ("true", "false", True, False),
        ("true", None, False, False),
        ("true", "true", False, False),
        ("null", None, True, False),
        ('"true"', None, True, False),
        ("true", '"yes"', True, False),
    ],
)
def test_any_switch_that_is_off_or_unreadable_wins(
    house: House, everybody: str, mine: str | None, own: bool, expected: bool
) -> None:
    override = f'"{house.user_id}": {mine}' if mine else f'"{uuid.uuid4()}": false'
    house.flag(f'{{"global": {everybody}, "user_overrides": {{{override}}}}}')
    with house.logins["owner"].transaction(house.user_id) as tx:
        tx.execute("UPDATE judgment.owners SET agent_access_enabled = %s", (own,))
    assert house.may_read() is expected
    assert house.may_read("owner") is expected


@pytest.mark.parametrize("value", ["{}", "[]", "null", '"x"', '{"global": true}'])
def test_a_broken_switch_is_off_unless_it_plainly_says_on(house: House, value: str) -> None:
    house.flag(value)
    assert house.may_read() is (value == '{"global": true}')


def test_without_the_switch_agents_are_shut_out(house: House) -> None:
    house.admin.execute("DELETE FROM public.agent_feature_flags")
    assert house.may_read() is False
