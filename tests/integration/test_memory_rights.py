"""What a message's role cannot do to a memory, whatever the code before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import errors as pg

if TYPE_CHECKING:
    from tests.integration.world import World

pytestmark = pytest.mark.promise("P4-memory", "R-18", "002-20.1")

ROLE = "judgment_process"
TABLES = ("state", "blobs", "commits", "revisions", "files", "imports")
MINE = "judgment.current_owner()"
OTHER = "repeat('b', 40)"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judgment.memory_commits SET message = 'other'",
        "UPDATE judgment.memory_commits SET committed_at = now()",
        "DELETE FROM judgment.memory_commits",
        "UPDATE judgment.memory_revisions SET sha256 = NULL",
        "UPDATE judgment.memory_revisions SET path = 'other'",
        "DELETE FROM judgment.memory_revisions",
        "UPDATE judgment.memory_blobs SET content = ''",
        "DELETE FROM judgment.memory_blobs",
        "DELETE FROM judgment.memory_state",
        "UPDATE judgment.memory_files SET path = 'other'",
        "UPDATE judgment.memory_files SET folded = 'other'",
        "TRUNCATE judgment.memory_commits CASCADE",
        f"INSERT INTO judgment.memory_state (user_id, revision) VALUES ({MINE}, 9)",
        f"INSERT INTO judgment.memory_blobs (user_id, sha256, content, created_at)"
        f" VALUES ({MINE}, '', '', now())",
    ],
)
def test_history_is_appended_and_never_changed(world: World, statement: str) -> None:
    assert world.try_as(ROLE, statement, owner=world.mine) is pg.InsufficientPrivilege


@pytest.mark.parametrize("table", TABLES)
def test_nothing_of_another_owner_is_seen(world: World, table: str) -> None:
    own = world.try_as(ROLE, f"SELECT user_id FROM judgment.memory_{table}", owner=world.mine)
    assert own == [(world.mine,)]
    nobody = world.try_as(ROLE, f"SELECT user_id FROM judgment.memory_{table}")
    assert nobody == []


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO judgment.memory_blobs (user_id, sha256, content)"
        " VALUES (%(theirs)s, encode(sha256('x'), 'hex'), 'x')",
        "INSERT INTO judgment.memory_commits (user_id, revision, id, origin, author, message,"
        f" committed_at) VALUES (%(theirs)s, 2, {OTHER}, 'tool', '', '', now())",
        "INSERT INTO judgment.memory_revisions (user_id, path, revision, sha256)"
        " VALUES (%(theirs)s, 'x', 1, NULL)",
        "INSERT INTO judgment.memory_files (user_id, path, folded, revision, sha256, bytes,"
        " updated_at) VALUES (%(theirs)s, 'x', 'x', 1, encode(sha256('mine'), 'hex'), 4, now())",
    ],
)
def test_nothing_is_put_into_anothers_memory(world: World, statement: str) -> None:
    given = {"theirs": world.theirs}
    assert world.try_as(ROLE, statement, given, owner=world.mine) is pg.InsufficientPrivilege


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judgment.memory_files SET bytes = 0",
        "DELETE FROM judgment.memory_files",
        "UPDATE judgment.memory_state SET revision = 0",
    ],
)
def test_anothers_files_stay_as_they_are(world: World, statement: str) -> None:
    touched = world.try_as(
        ROLE, f"{statement} WHERE user_id = %(t)s", {"t": world.theirs}, world.mine
    )
    assert touched == 0


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        (
            f"INSERT INTO judgment.memory_blobs (user_id, sha256, content) VALUES ({MINE},"
            " encode(sha256('x'), 'hex'), 'y')",
            pg.CheckViolation,
        ),
        (
            "UPDATE judgment.memory_files SET sha256 = encode(sha256('x'), 'hex')",
            pg.ForeignKeyViolation,
        ),
        ("UPDATE judgment.memory_files SET revision = 7", pg.ForeignKeyViolation),
        (
            f"INSERT INTO judgment.memory_revisions (user_id, path, revision, sha256) VALUES"
            f" ({MINE}, 'x', 1, encode(sha256('never kept'), 'hex'))",
            pg.ForeignKeyViolation,
        ),
        (
            f"INSERT INTO judgment.memory_revisions (user_id, path, revision, sha256) VALUES"
            f" ({MINE}, 'x', 9, NULL)",
            pg.ForeignKeyViolation,
        ),
        (
            f"INSERT INTO judgment.memory_files (user_id, path, folded, revision, sha256, bytes,"
            f" updated_at) VALUES ({MINE}, 'me/Profile.md', 'me/profile.md', 1,"
            " encode(sha256('mine'), 'hex'), 4, now())",
            pg.UniqueViolation,
        ),
        (
            "INSERT INTO judgment.memory_commits (user_id, revision, id, origin, author, message,"
            f" committed_at) VALUES ({MINE}, 1, {OTHER}, 'tool', '', '', now())",
            pg.UniqueViolation,
        ),
    ],
)
def test_no_file_differs_from_its_version_and_no_version_from_its_content(
    world: World, statement: str, refusal: type[Exception]
) -> None:
    assert world.try_as(ROLE, statement, owner=world.mine) is refusal


def test_nobody_else_reads_what_is_in_a_memory(world: World) -> None:
    def readers(table: str, column: str) -> set[str]:
        found: set[Any] = {
            role
            for role in world.connections
            if column in world.columns(role, f"judgment.memory_{table}", "SELECT")
        }
        return found - {"judgment_migrate"}

    for table, column in [("blobs", "content"), ("commits", "message"), ("files", "path")]:
        assert readers(table, column) == {ROLE, "judgment_owner"}
