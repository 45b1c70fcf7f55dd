"""`judgment memory` run as a person would, against routes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgment.cli.commands import cli
from tests.fakes.memory_api import TOKEN, Kept, MemoryServer
from tests.unit.cli.homes import UNSET, Said


@dataclass
class Shell:
    """Where commands are run, and what they reach."""

    folder: Path
    server: MemoryServer
    kept: Kept
    token: str | None = TOKEN

    def memory(self, *words: str, code: int = 0, path: str | None = None) -> Said:
        """Run `judgment memory` with these words; nothing but an exit may come out of it."""
        environment: dict[str, str | None] = {
            **dict.fromkeys(UNSET),
            "SYNC_API_URL": self.server.url,
            "SYNC_OWNER_TOKEN": self.token,
            "HOME": str(self.folder),
        }
        if path is not None:
            environment["PATH"] = path
        found = CliRunner().invoke(cli, ["memory", *words], env=environment)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        assert found.exit_code == code, (found.stdout, found.stderr)
        return Said(found.exit_code, found.stdout, found.stderr)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    kept = Kept()
    with MemoryServer(kept) as server:
        yield Shell(tmp_path, server, kept)
