"""A child process that adds to an outbox or flushes it, and dies where it is told to.

Arguments: root, file that stands for the remote, kill point (or `none`), `add KEY...` or `flush` or
`forget KEY`; `refuse ID...` may follow after `--`. Prints `added` when an addition has returned.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from judgment.kit.deadline import Deadline
from judgment.kit.killpoints import arm
from judgment.preferences.outbox import Outbox
from judgment.preferences.signals import signal_from
from tests.fakes.remotes import FileRemote

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


def main(root: str, remote_file: str, point: str, *command: str) -> None:
    """Do one thing to the outbox."""
    arm(point)
    words, refused = list(command), []
    if "--" in words:
        cut = words.index("--")
        words, refused = words[:cut], words[cut + 1 :]
    outbox = Outbox(Path(root), lambda: NOW)
    if words[0] == "add":
        payloads = [
            {"key": key, "value": True, "strength": 0.5, "source": {"platform": "child"}}
            for key in words[1:]
        ]
        outbox.add([signal_from(payload, received_at=NOW) for payload in payloads])
        print("added", flush=True)
    elif words[0] == "forget":
        outbox.forget(words[1], NOW)
    else:
        remote = FileRemote(Path(remote_file))
        remote.refuses = refused
        outbox.flush(remote, Deadline.after(60))


if __name__ == "__main__":
    main(*sys.argv[1:])
