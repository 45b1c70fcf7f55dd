"""`./dev up`, `./dev down` and `./dev env`: `python -m infra.local up|down|env`."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from infra.checkout import ROOT
from infra.local.lock import AlreadyRunning, end_holder, is_held
from infra.local.places import Places
from infra.local.usage import usage

DETACH_SECONDS = 600.0


def main(arguments: list[str]) -> int:
    """Parse, do, and give the exit status."""
    parser = argparse.ArgumentParser(prog="./dev", description=__doc__)
    tasks = parser.add_subparsers(dest="task", required=True)
    up = tasks.add_parser("up", help="start the product on this machine")
    up.add_argument("--detach", action="store_true", help="return when it serves")
    up.add_argument("--port", type=int, default=None, help="of the API (0: any)")
    up.add_argument("--with", dest="modules", action="append", default=[], metavar="MODULE")
    up.add_argument("--parent", type=int, help="stop, and delete the state, when it ends")
    up.add_argument("--quiet", action="store_true", help="do not print the keys")
    down = tasks.add_parser("down", help="stop a detached one")
    env = tasks.add_parser("env", help="print the shell lines that name the running stack")
    env.add_argument("owner", nargs="?", default="demo", help="whose agent key")
    for parsed in (up, down, env):
        parsed.add_argument("--state", type=Path, default=Places.default().state)
    chosen = parser.parse_args(arguments)
    places = Places(chosen.state.absolute())
    if chosen.task == "down":
        print("stopped" if end_holder(places.lock) else "nothing is running")
        return 0
    if chosen.task == "env":
        return show_environment(places, chosen.owner)
    if chosen.detach:
        return detach(places, [word for word in arguments if word != "--detach"])
    return serve(places, chosen)


def show_environment(places: Places, owner: str) -> int:
    """Print `export` lines for a shell to evaluate: the address, an owner's agent key and token."""
    try:
        stack = json.loads(places.stack_file.read_text())
    except FileNotFoundError:
        print("nothing is running; ./dev up starts it", file=sys.stderr)
        return 1
    if owner not in stack["owners"]:
        print(f"no such owner; there are: {', '.join(stack['owners'])}", file=sys.stderr)
        return 1
    print(f"export SYNC_API_URL={shlex.quote(stack['api_url'])}")
    print(f"export SYNC_API_KEY={shlex.quote(stack['owners'][owner]['agent_key'])}")
    print(f"export SYNC_OWNER_TOKEN={shlex.quote(stack['owners'][owner]['owner_token'])}")
    return 0


def serve(places: Places, chosen: argparse.Namespace) -> int:
    """Run the stack in this process until a signal."""
    from infra.local.supervisor import API_PORT, Options, Supervisor

    def ready(stack: dict[str, Any]) -> None:
        if not chosen.quiet:
            print(usage(stack, places), flush=True)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    port = API_PORT if chosen.port is None else chosen.port
    options = Options(places, port, tuple(chosen.modules), chosen.parent)
    try:
        return Supervisor(options, say).run(ready)
    except AlreadyRunning as refusal:
        say(f"{refusal}; ./dev down stops it")
        return 1


def detach(places: Places, arguments: list[str]) -> int:
    """Start it in the background; returns when it serves or has failed."""
    if not is_held(places.lock):
        places.make()
        places.stack_file.unlink(missing_ok=True)
        status = _begin(places, arguments)
        if status is not None:
            return status
    print(usage(json.loads(places.stack_file.read_text()), places))
    return 0


def _begin(places: Places, arguments: list[str]) -> int | None:
    """None when the stack serves, else the exit status to give."""
    with (places.logs / "supervisor.log").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "infra.local", *arguments, "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=ROOT,
            start_new_session=True,
        )
        deadline = time.monotonic() + DETACH_SECONDS
        while not places.stack_file.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                print(log.read(), file=sys.stderr)
                return process.returncode or 1
            time.sleep(0.05)
        log.seek(0)
        print(log.read(), end="", file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
