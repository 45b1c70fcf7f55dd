"""Consent as the database works it out is consent as `grants` folds it, whatever the history."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.kit.clock import isoformat
from judgment.preferences.consent import EVERYBODY
from judgment.preferences.grants import fold
from judgment.preferences.keys import glob_matches
from tests.fakes.people import make_owner

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-consent", "P3-defect-07", "P3-defect-08", "P3-defect-19")

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SEGMENTS = ("a", "b", "Café", "a b", "\U0001d51e", "%", "_", "\\", "a+", "{x}", "(", "^$")
KEYS = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4).map(".".join)
GLOBS = st.lists(st.sampled_from(("*", *SEGMENTS)), min_size=1, max_size=4).map(".".join)
UNREADABLE_GLOBS = (
    "",
    "a*",
    "**",
    "a..b",
    ".a",
    "a.",
    "a?",
    "[a]",
    " a",
    "a .b",
    "a\u202eb",
    "x" * 201,
)
AUDIENCES = ("bob", "Bob", "user:1", "Zoë")
UNREADABLE_AUDIENCES = ("", "self", "b*", " bob", "bob ", "b\nb", "y" * 101)
MOMENTS = [NOW + timedelta(seconds=n) for n in (-60, -1, 0, 1, 60)]


@dataclass
class Bench:
    """A connection past every policy, to a database whose own checks of an event are taken off."""

    admin: psycopg.Connection[Any]
    who: uuid.UUID

    def keep(self, history: list[dict[str, Any]]) -> None:
        self.admin.execute("DELETE FROM judgment.consent_events WHERE user_id = %s", (self.who,))
        with self.admin.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO judgment.consent_events (user_id, position, id, effect, key_glob,"
                " audience, level, expires, made_at) VALUES (%s, %s, gen_random_uuid(), %s, %s, %s,"
                " %s, %s, %s)",
                [
                    (
                        *(self.who, place, step["effect"], step["key_glob"], step["audience"]),
                        *(step["level"], step["expires"], NOW),
                    )
                    for place, step in enumerate(history, 1)
                ],
            )

    def open_keys(self, audience: str, purpose: str, keys: list[str]) -> set[str]:
        found = self.admin.execute(
            "SELECT judgment.open_keys(%s, %s, %s, %s, %s)",
            (self.who, audience, purpose, keys, NOW),
        ).fetchone()
        assert found
        return set(found[0])


@pytest.fixture(scope="module")
def bench(module_database: TestDatabase) -> Iterator[Bench]:
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        checks = admin.execute(
            "SELECT conname FROM pg_constraint WHERE contype = 'c'"
            " AND conrelid = 'judgment.consent_events'::regclass"
        ).fetchall()
        for (name,) in checks:
            admin.execute(f'ALTER TABLE judgment.consent_events DROP CONSTRAINT "{name}"'.encode())
        yield Bench(admin, make_owner(module_database))


@st.composite
def histories(draw: st.DrawFn, *, whole: bool = False) -> list[dict[str, Any]]:
    """Steps of consent, some of them unreadable unless `whole`; globs come again."""
    globs = draw(st.lists(GLOBS, min_size=1, max_size=3))
    unreadable = [] if whole else [st.sampled_from(UNREADABLE_GLOBS)]
    steps = st.fixed_dictionaries(
        {
            "effect": st.sampled_from(
                ("allow", "allow", "deny", "revoke", "lift", *([] if whole else ["grant", ""]))
            ),
            "key_glob": st.one_of(st.sampled_from(globs), *unreadable),
            "audience": st.sampled_from(
                (*AUDIENCES, EVERYBODY, *([] if whole else UNREADABLE_AUDIENCES))
            ),
            "level": st.sampled_from(("read", "solve", *([] if whole else ["", "admin"]))),
            "expires": st.one_of(st.none(), st.sampled_from(MOMENTS)),
        }
    )
    return draw(st.lists(steps, max_size=10))


def folded(history: list[dict[str, Any]]) -> Any:
    """What `grants` makes of it."""
    return fold(
        {
            **step,
            "id": str(place),
            "position": place,
            "recorded_at": isoformat(NOW),
            "expires": None if step["expires"] is None else isoformat(step["expires"]),
        }
        for place, step in enumerate(history, 1)
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    history=histories(),
    keys=st.lists(KEYS, min_size=1, max_size=6, unique=True),
    audience=st.sampled_from((*AUDIENCES, EVERYBODY, "self", "nobody")),
    purpose=st.sampled_from(("read", "solve", "sell")),
)
def test_the_database_opens_exactly_what_the_fold_opens(
    bench: Bench, history: list[dict[str, Any]], keys: list[str], audience: str, purpose: str
) -> None:
    bench.keep(history)
    expected = folded(history).open_keys(keys, audience, purpose, NOW)
    assert bench.open_keys(audience, purpose, keys) == expected


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    history=histories(whole=True),
    more=histories(whole=True),
    keys=st.lists(KEYS, min_size=1, max_size=6, unique=True),
)
def test_what_only_closes_never_opens(
    bench: Bench, history: list[dict[str, Any]], more: list[dict[str, Any]], keys: list[str]
) -> None:
    closing = [step for step in more if step["effect"] in ("deny", "revoke")]
    for audience in AUDIENCES[:2]:
        for purpose in ("read", "solve"):
            bench.keep(history)
            before = bench.open_keys(audience, purpose, keys)
            bench.keep(history + closing)
            assert bench.open_keys(audience, purpose, keys) <= before


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(glob=GLOBS, key=KEYS)
def test_a_glob_covers_in_the_database_what_it_covers_in_python(
    bench: Bench, glob: str, key: str
) -> None:
    found = bench.admin.execute("SELECT judgment.glob_covers(%s, %s)", (glob, key)).fetchone()
    assert found == (glob_matches(glob, key),)


def test_a_stored_step_is_one_that_can_be_read(module_database: TestDatabase, fresh_database: Any):
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as admin:
        who = make_owner(fresh_database)
        for step in (
            {"effect": "grant"},
            {"level": "admin"},
            {"effect": "revoke", "expires": NOW},
            {"audience": "*"},
        ):
            whole = {
                "effect": "allow",
                "key_glob": "a.*",
                "audience": "bob",
                "level": "read",
                "expires": None,
            } | step
            with pytest.raises(psycopg.errors.CheckViolation):
                Bench(admin, who).keep([whole])
