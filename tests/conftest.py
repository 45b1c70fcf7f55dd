"""What every kind of test may ask for: a real Postgres, and databases of its own in it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from infra.local.database import make_database
from infra.local.postgres import LocalPostgres
from tests.databases import TEMPLATE, TestDatabase, copied_database


def pytest_addoption(parser: pytest.Parser) -> None:
    """`./dev test --agents --models`."""
    parser.addoption(
        "--agents", action="store_true", help="drive the large agent clients too (about 1.3 GB)"
    )
    parser.addoption(
        "--models", action="store_true", help="ask a real small model too (about 130 MB)"
    )


TOGETHER = ("tests/e2e/", "tests/unit/profile/test_distil.py")
"""What runs in one process, in order: the tests of the one running stack, some of which cut its
connections or turn its switches; and those for which real people's profiles are built once."""


class TogetherScheduling(LoadScopeScheduling):
    """Tests go one by one to whichever process is free, but for those that belong together.

    xdist's own groups rename a test for this, which pytest 9.2 no longer lets it do.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((start for start in TOGETHER if nodeid.startswith(start)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> TogetherScheduling:
    """The scheduler of a run in several processes."""
    return TogetherScheduling(config, log)


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """One server for this pytest process (each xdist worker has its own)."""
    home = Path(tempfile.mkdtemp(prefix="judgment-test-"))
    home.chmod(0o755)
    server = LocalPostgres(home / "pg").start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_template(postgres: LocalPostgres) -> str:
    """The name of a database with every migration applied; copied, never connected to."""
    make_database(postgres, TEMPLATE)
    return TEMPLATE


@pytest.fixture
def fresh_database(postgres: LocalPostgres, migrated_template: str) -> Iterator[TestDatabase]:
    """A migrated database for this test alone."""
    with copied_database(postgres, migrated_template) as database:
        yield database


@pytest.fixture(scope="module")
def module_database(postgres: LocalPostgres, migrated_template: str) -> Iterator[TestDatabase]:
    """A migrated database for this test module; its tests use owners of their own."""
    with copied_database(postgres, migrated_template) as database:
        yield database


@pytest.fixture
def empty_database(postgres: LocalPostgres, migrated_template: str) -> Iterator[TestDatabase]:
    """A database without any table, for tests of the migrations themselves.

    Roles belong to the whole server. The template has made them, as the migrator, so that a test
    which migrates as somebody else does not make them first and lock the migrator out.
    """
    with copied_database(postgres, "template0") as database:
        yield database
