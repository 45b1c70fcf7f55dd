"""A peer as a child process: started with a clean home, found by its port, surely ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from infra.local.children import die_with_parent
from tests.bench.peers.peer import PeerUnavailable

START_SECONDS = 90
STOP_SECONDS = 5


@contextmanager
def child(
    command: Sequence[str],
    home: Path,
    settings: Mapping[str, str],
    *,
    pipes: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """The running process; its output goes to `home/log`. Ended on leaving, by force at last.

    `pipes` connects its standard input and output for a line protocol.
    """
    home.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), **settings}
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            list(command),
            cwd=home,
            env=environment,
            stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipes else log,
            stderr=log,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    try:
        yield process
    finally:
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return once the process listens. Raises PeerUnavailable when it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(0.05)
            raise PeerUnavailable(f"ended with {code}: {last_words(log)}")
    raise PeerUnavailable(f"not listening after {START_SECONDS} s: {last_words(log)}")


def last_words(log: Path) -> str:
    """The end of a log, on one line."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return " ".join(text.split()[-40:])


def line_pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Input and output of a process started with `pipes`. Raises ValueError for another."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process was started without pipes")
    return process.stdin, process.stdout


def answer(write: IO[bytes], read: IO[bytes], log: Path, message: object) -> Any:
    """What a driver says to one line of JSON. Raises PeerUnavailable with its last words."""
    try:
        write.write(json.dumps(message).encode() + b"\n")
        write.flush()
    except BrokenPipeError as reason:
        raise PeerUnavailable(last_words(log)) from reason
    line = read.readline()
    if not line:
        raise PeerUnavailable(last_words(log))
    return json.loads(line)
