"""One running local stack for a whole test session, whatever the number of pytest processes."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from infra.checkout import ROOT
from infra.local.issuer import LocalIssuer
from infra.local.places import Places
from infra.local.provision import aws_access

UP_SECONDS = 300
SCRIPTED = "openai-compatible:scripted"
WINDOW_SECONDS = 3


@dataclass(frozen=True)
class Owner:
    """An owner of stack.json."""

    user_id: UUID
    owner_token: str
    agent_key: str

    @property
    def agent(self) -> dict[str, str]:
        """The header that an agent of this owner sends."""
        return {"Authorization": f"Bearer {self.agent_key}"}

    @property
    def headers(self) -> dict[str, str]:
        """The header that the owner sends."""
        return {"Authorization": f"Bearer {self.owner_token}"}


@dataclass(frozen=True)
class RunningStack:
    """The content of stack.json, and where the stack keeps its files."""

    places: Places
    api_url: str
    mcp_url: str
    console_url: str
    database_url: str
    aws_endpoint_url: str
    admin_token: str
    owners: dict[str, Owner]

    @classmethod
    def read(cls, places: Places) -> RunningStack:
        """The stack that serves that state folder."""
        found: dict[str, Any] = json.loads(places.stack_file.read_text())
        owners = {
            name: Owner(UUID(who["user_id"]), who["owner_token"], who["agent_key"])
            for name, who in found.pop("owners").items()
        }
        return cls(places=places, owners=owners, **found)

    @property
    def issuer(self) -> LocalIssuer:
        """The issuer's administration; whoever rotates or stops it puts it back."""
        config = json.loads(self.places.gateway.read_text())
        return LocalIssuer(self.places.issuer, config["issuer_url"])

    @property
    def aws(self) -> dict[str, Any]:
        """Arguments of `boto3.client` for the stack's own services."""
        return aws_access(self.aws_endpoint_url)

    def wire_lines(self) -> list[dict[str, str]]:
        """The wire log so far."""
        return [json.loads(line) for line in self.places.wire_log.read_text().splitlines()]


def run_dev(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """What `./dev up|down …` does once the environment is installed, with variables added."""
    return subprocess.run(
        [sys.executable, "-m", "infra.local", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=UP_SECONDS,
        env={**os.environ, **environ},
    )


def session_stack(**environ: str) -> RunningStack:
    """The session's stack, started with these variables by whichever pytest process comes first.

    It ends, and its folder goes, with the process that runs the whole session.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    session = os.getppid() if run else os.getpid()
    state = Path(tempfile.gettempdir()) / f"judgment-stack-{run or session}"
    with (state.parent / f"judgment-stacks-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        options = ["--state", str(state), "--port", "0", "--parent", str(session)]
        result = run_dev("up", "--detach", *options, "--with", "tests.probe.catalogue", **environ)
        if result.returncode != 0:
            raise AssertionError(f"the stack did not start:\n{result.stdout}\n{result.stderr}")
    return RunningStack.read(Places(state))


def end_session_stack(stack: RunningStack) -> None:
    """Stop it now, where one process is the whole session; else its parent's end does."""
    if "PYTEST_XDIST_TESTRUNUID" in os.environ:
        return
    run_dev("down", "--state", str(stack.places.state))
    shutil.rmtree(stack.places.state, ignore_errors=True)
