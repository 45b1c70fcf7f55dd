"""Free ports that stay the same from one start to the next, as long as nobody else took them."""

from __future__ import annotations

import json
import socket
from pathlib import Path


def remembered_ports(path: Path, wishes: dict[str, int]) -> dict[str, int]:
    """A port for each name: the one of last time, else the wished one, else any (wish 0).

    The choice is written to `path`.
    """
    known: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    chosen: dict[str, int] = {}
    for name, wish in wishes.items():
        candidates = (known.get(name, 0), wish, 0)
        taken = set(chosen.values())
        chosen[name] = next(
            port for wanted in candidates if (port := _bindable(wanted)) and port not in taken
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(chosen))
    return chosen


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listened on just now."""
    return _bindable(0)


def _bindable(port: int) -> int:
    """The port if it can be had (a free one for 0), else 0."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
        return int(probe.getsockname()[1])
