"""The starter pack is laid down once in a memory's life, over nothing, by whoever comes first."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from judgment.db.connection import Database
from judgment.memory import files
from judgment.memory.model import Change
from judgment.memory.starter import STARTER, page_files, recognised, seed
from tests.fakes.people import make_owner
from tests.fakes.rounds import rows
from tests.integration.starter_child import NOW, arguments

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-starter", "002-3.2")

ROLE = "judgment_process"
OWNER = "Owner <owner@judgment.invalid>"


@pytest.fixture
def memory(module_database: TestDatabase) -> Iterator[Database]:
    """As a turn reaches the memory."""
    database = Database(module_database.url(ROLE))
    yield database
    database.close()


@pytest.fixture
def who(module_database: TestDatabase) -> uuid.UUID:
    return make_owner(module_database)


def plant(memory: Database, who: uuid.UUID) -> bool:
    with memory.transaction(who) as tx:
        return seed(tx, who, NOW)


def keep(memory: Database, who: uuid.UUID, contents: dict[str, bytes | None]) -> None:
    """The owner's own change; None deletes."""
    changes = [Change(path, content) for path, content in contents.items()]
    with memory.transaction(who) as tx:
        files.commit(tx, who, changes, origin="owner", author=OWNER, message="Mine", at=NOW)


def held(memory: Database, who: uuid.UUID) -> dict[str, bytes]:
    with memory.transaction(who) as tx:
        paths = [entry.path for entry in files.entries(tx, who)]
        return {path: files.read(tx, who, path).content for path in paths}


def commits(database: TestDatabase, who: uuid.UUID) -> list[tuple[int, str, str, str]]:
    return rows(
        database,
        "SELECT revision, origin, author, message FROM judgment.memory_commits"
        " WHERE user_id = %s ORDER BY revision",
        who,
    )


def test_a_new_memory_holds_every_text_byte_for_byte_as_one_commit(
    memory: Database, who: uuid.UUID, module_database: TestDatabase
) -> None:
    assert plant(memory, who) is True
    assert held(memory, who) == dict(STARTER)
    assert commits(module_database, who) == [
        (1, "starter", "Judgment <judgment@judgment.invalid>", "Initialize memory root")
    ]
    ((seeded,),) = rows(
        module_database, "SELECT seeded_at FROM judgment.memory_state WHERE user_id = %s", who
    )
    assert seeded == NOW


@pytest.mark.promise("P4-starter-digests")
def test_what_was_laid_down_is_recognised_by_the_digest_the_database_checked(
    memory: Database, who: uuid.UUID
) -> None:
    plant(memory, who)
    with memory.transaction(who) as tx:
        found = {entry.path: entry.sha256 for entry in files.entries(tx, who)}
    assert all(recognised(path, sha256) for path, sha256 in found.items())
    goals = "documents/career/spec.md"
    keep(memory, who, {goals: STARTER[goals] + b"\n"})
    with memory.transaction(who) as tx:
        changed = files.digest(tx, who, goals)
    assert changed
    assert not recognised(goals, changed)


def test_seeding_again_changes_nothing_and_makes_no_commit(
    memory: Database, who: uuid.UUID, module_database: TestDatabase
) -> None:
    assert [plant(memory, who) for _ in range(3)] == [True, False, False]
    assert len(commits(module_database, who)) == 1


@pytest.mark.promise("P4-memory-owner")
def test_what_the_owner_changed_or_deleted_stays_so(memory: Database, who: uuid.UUID) -> None:
    plant(memory, who)
    keep(memory, who, {"AGENT.md": b"mine\n", "documents/fitness/plan.md": None})
    assert plant(memory, who) is False
    now = held(memory, who)
    assert now["AGENT.md"] == b"mine\n"
    assert "documents/fitness/plan.md" not in now
    assert len(now) == len(STARTER) - 1


@pytest.mark.promise("P4-overlay")
def test_what_was_there_before_is_kept_byte_for_byte_overlays_too(
    memory: Database, who: uuid.UUID
) -> None:
    overlay = "Call me Kay.\r\n\u2019".encode()
    mine = {
        "AGENT-user.md": overlay,
        "documents/career/run-interview-user.md": overlay,
        "documents/career/spec.md": b"# Mine\n",
    }
    keep(memory, who, mine)
    assert plant(memory, who) is True
    assert held(memory, who) == {**STARTER, **mine}


def test_a_name_that_is_taken_in_another_spelling_or_by_a_folder_is_left_out(
    memory: Database, who: uuid.UUID
) -> None:
    mine = {
        "agent.MD": b"mine\n",
        "me/todo.md/list.txt": b"in a folder of that name\n",
        "preferences": b"a file of that name\n",
    }
    keep(memory, who, mine)
    assert plant(memory, who) is True
    left_out = {"AGENT.md", "me/todo.md", "preferences/default.json"}
    assert set(held(memory, who)) == (set(STARTER) - left_out) | set(mine)


def test_a_memory_that_has_everything_is_marked_without_a_commit(
    memory: Database, who: uuid.UUID, module_database: TestDatabase
) -> None:
    keep(memory, who, dict.fromkeys(STARTER, b"mine\n"))
    assert plant(memory, who) is True
    assert plant(memory, who) is False
    assert [origin for _, origin, _, _ in commits(module_database, who)] == ["owner"]


def test_a_page_of_the_owners_own_is_laid_beside_and_recognised(
    memory: Database, who: uuid.UUID
) -> None:
    plant(memory, who)
    made = page_files("my-garden", "My Garden")
    keep(memory, who, dict(made))
    with memory.transaction(who) as tx:
        found = {e.path: e.sha256 for e in files.entries(tx, who, "documents/my-garden")}
    assert len(found) == 7
    assert all(recognised(path, sha256) for path, sha256 in found.items())


@pytest.mark.promise("P4-memory-cas")
def test_of_two_processes_one_seeds_and_the_other_waits_and_finds_it_done(
    memory: Database, who: uuid.UUID, module_database: TestDatabase
) -> None:
    with memory.transaction(who) as tx:
        assert seed(tx, who, NOW) is True
        other = subprocess.Popen(
            arguments(module_database.url(ROLE), who), stdout=subprocess.PIPE, text=True
        )
        wait_until_one_waits(module_database, other)
    said, _ = other.communicate(timeout=60)
    assert (other.returncode, json.loads(said)) == (0, False)
    assert len(commits(module_database, who)) == 1
    assert held(memory, who) == dict(STARTER)


def test_seeding_that_is_given_up_leaves_nothing_and_the_next_one_does_it(
    memory: Database, who: uuid.UUID, module_database: TestDatabase
) -> None:
    with pytest.raises(RuntimeError, match="given up"):
        seed_and_give_up(memory, who)
    assert commits(module_database, who) == []
    other = subprocess.run(
        arguments(module_database.url(ROLE), who),
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert json.loads(other.stdout) is True
    assert held(memory, who) == dict(STARTER)


@pytest.mark.promise("P4-memory-property")
def test_the_memory_of_another_owner_is_not_touched(
    memory: Database, who: uuid.UUID, module_database: TestDatabase
) -> None:
    other = make_owner(module_database)
    plant(memory, who)
    assert held(memory, other) == {}
    assert plant(memory, other) is True
    assert held(memory, other) == held(memory, who)


def seed_and_give_up(memory: Database, who: uuid.UUID) -> None:
    with memory.transaction(who) as tx:
        seed(tx, who, NOW)
        raise RuntimeError("given up")


def wait_until_one_waits(database: TestDatabase, child: subprocess.Popen[str]) -> None:
    """Until somebody waits for a lock in this database, or the child has ended."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
    with psycopg.connect(database.admin_url, autocommit=True) as watcher:
        while not watcher.execute(waiting, (database.name,)).fetchone():
            if child.poll() is not None:
                pytest.fail("The second process did not wait for the first.")
