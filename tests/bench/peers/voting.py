"""Vote counting as a library does it, beside which the solver is timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from tests.bench.peers.environments import PythonEnvironment
from tests.bench.peers.processes import answer, child, line_pipes

Rankings = Mapping[str, Sequence[Sequence[int]]]


@dataclass
class Voting:
    """A running peer that holds rankings by size. `winners` is what it said of each, by method."""

    write: IO[bytes]
    read: IO[bytes]
    log: Path
    winners: Mapping[str, list[int]]

    def milliseconds(self, size: str, method: str, calls: int, *, built: bool = False) -> float:
        """Median of its own clock over `calls`, from rankings, or with `built` from its profile."""
        asked = {"size": size, "method": method, "calls": calls, "built": built}
        return float(answer(self.write, self.read, self.log, asked))


class PrefVoting:
    """Voting methods over NumPy and Numba, each in one process of its own."""

    name = "pref_voting 1.18.2"
    environment = PythonEnvironment("pref_voting")

    @contextmanager
    def open(self, rankings: Rankings) -> Iterator[Voting]:
        """Install if need be, start, hand over. Raises PeerUnavailable with its own words."""
        python = self.environment.install() / "python"
        driver = Path(__file__).with_name("pref_voting_driver.py")
        with TemporaryDirectory() as folder:
            home = Path(folder)
            with child([str(python), str(driver)], home, {}, pipes=True) as process:
                write, read = line_pipes(process)
                log = home / "log"
                winners = answer(write, read, log, {"rankings": rankings})
                yield Voting(write, read, log, winners)
