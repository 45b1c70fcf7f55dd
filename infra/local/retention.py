"""How long a stack keeps its logs: the wire log 30 days (ruling 33), the others while small."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

WIRE_DAYS = 30
LOG_BYTES = 5 * 1024 * 1024


def forget_old_lines(wire_log: Path, now: datetime) -> int:
    """Drop lines older than 30 days, and broken ones; how many were dropped."""
    if not wire_log.exists():
        return 0
    lines = wire_log.read_text().splitlines()
    kept = [line for line in lines if _is_younger(line, now - timedelta(days=WIRE_DAYS))]
    if len(kept) < len(lines):
        wire_log.write_text("".join(f"{line}\n" for line in kept))
    return len(lines) - len(kept)


def forget_long_logs(folder: Path) -> None:
    """Empty each log that grew over 5 MiB."""
    for log in folder.glob("*.log"):
        if log.stat().st_size > LOG_BYTES:
            log.write_bytes(b"")


def _is_younger(line: str, limit: datetime) -> bool:
    try:
        return _time_of(line) >= limit
    except (KeyError, TypeError, ValueError):
        return False


def _time_of(line: str) -> datetime:
    return datetime.strptime(json.loads(line)["time"], "%d/%b/%Y:%H:%M:%S %z")
