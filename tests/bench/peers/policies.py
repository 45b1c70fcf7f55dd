"""A policy engine that is asked the same questions as consent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from tests.bench.peers.environments import PythonEnvironment
from tests.bench.peers.processes import answer, child, line_pipes

NAME = "cedarpy 4.12.2"
ENVIRONMENT = PythonEnvironment("cedarpy")


@dataclass
class Engine:
    """A running engine. `decisions` are its answers to the questions, in their order."""

    write: IO[bytes]
    read: IO[bytes]
    log: Path
    decisions: list[bool]

    def milliseconds(self, calls: int) -> float:
        """Median of its own clock over `calls` times all questions, a question."""
        return float(answer(self.write, self.read, self.log, {"calls": calls}))


@contextmanager
def opened(policies: str, questions: Sequence[dict[str, str]]) -> Iterator[Engine]:
    """Install if need be, start, hand over. Raises PeerUnavailable with its own words."""
    python = ENVIRONMENT.install() / "python"
    driver = Path(__file__).with_name("cedarpy_driver.py")
    with TemporaryDirectory() as folder:
        home = Path(folder)
        with child([str(python), str(driver)], home, {}, pipes=True) as process:
            write, read = line_pipes(process)
            told = {"policies": policies, "questions": list(questions)}
            yield Engine(write, read, home / "log", answer(write, read, home / "log", told))
