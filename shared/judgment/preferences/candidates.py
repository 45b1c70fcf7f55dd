"""What an agent noticed in a session, put aside until the session is drained into a store.

A session's queue is a file that is only appended to, one statement a line with when it was said and
its place in the session, and beside it how many of its lines have been kept. So nothing noticed is
overwritten, a drain that is killed is done again to the same effect (the same statement has the
same id), and two drains at once keep each line once. `notice` waits for no network: it takes the
short lock of writing, and a drain holds it only while it reads.

Whole drained queues are deleted 30 days after their last line. Standard library only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from judgment.kit.files import append_private, locked, make_folder, write_private
from judgment.kit.hashing import canonical_json, sha256_hex
from judgment.kit.killpoints import reach
from judgment.preferences.keys import checked_key, checked_platform, is_platform
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import captured_from, payload_of

KEPT_FOR = timedelta(days=30)
_SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_FORGOTTEN = '{"forgotten":true}'

Keep = Callable[[Sequence[Signal]], object]


@dataclass(frozen=True, slots=True)
class SetAside:
    """A line of a queue that is no statement: which, and why. It stays in the file."""

    session_file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain handed on, in order, and what it could not read."""

    signals: tuple[Signal, ...]
    set_aside: tuple[SetAside, ...]


class Candidates:
    """The queues of one platform's sessions, below `root` (`candidates/<platform>/`).

    Raises InvalidSignal for a name that is no platform.
    """

    def __init__(self, root: Path, platform: str):
        self._folder = root / "candidates" / checked_platform(platform)
        self._writing = self._folder / ".writing.lock"
        self._draining = self._folder / ".draining.lock"

    def notice(self, payload: Mapping[str, Any], now: datetime) -> Signal:
        """Append one statement, said at its `observed_at` or `now`; the signal it will become.

        Its place in the session is the number of statements noticed there before. It is on disk
        when this returns. Raises InvalidSignal, and then nothing is appended.
        """
        checked = captured_from(payload, received_at=now)
        if checked.source.session is None:
            raise InvalidSignal("source.session must be given")
        make_folder(self._folder)
        path = self._folder / f"{_file_name(checked.source.session)}.jsonl"
        with locked(self._writing):
            lines, whole = _content(path)
            stated = payload_of(checked)
            stated["source"]["sequence"] = len(lines)
            signal = captured_from(stated, received_at=now)
            append_private(path, f"{canonical_json(payload_of(signal))}\n".encode(), whole)
        return signal

    def drain(
        self, keep: Keep, now: datetime, session: str | None = None, agent: str | None = None
    ) -> Drained:
        """Hand every statement that is not kept yet to `keep`, a session at a time and in order.

        A session's statements count as kept once `keep` has returned; where it raises they stay.
        `agent` names who heard those that do not say so. Another drain of the platform is waited
        for, and what it kept is not kept again.
        """
        if not self._folder.is_dir():
            return Drained((), ())
        signals: list[Signal] = []
        set_aside: list[SetAside] = []
        with locked(self._draining):
            for path in self._queues(session):
                lines = self._read(path)
                done = _kept_lines(path, lines)
                found, bad = _statements(path, lines, done, agent, now)
                set_aside += bad
                if found:
                    keep(found)
                    reach("candidates.kept")
                if len(lines) > done:
                    write_private(_marker(path), f"{len(lines)}\n".encode())
                signals += found
                self._prune(path, len(lines), now)
        return Drained(tuple(signals), tuple(set_aside))

    def waiting(self) -> int:
        """How many statements are noticed and not kept."""
        queues = ((path, self._read(path)) for path in self._queues(None))
        return sum(len(lines) - _kept_lines(path, lines) for path, lines in queues)

    def forget(self, key: str) -> int:
        """Blank every statement about `key`, kept or not; how many there were."""
        wanted = checked_key(key)[0]
        if not self._folder.is_dir():
            return 0
        blanked = 0
        with locked(self._draining), locked(self._writing):
            for path in self._queues(None):
                lines = _content(path)[0]
                cleared = [_FORGOTTEN if _is_about(line, wanted) else line for line in lines]
                count = sum(a != b for a, b in zip(lines, cleared, strict=True))
                if count:
                    write_private(path, "".join(f"{line}\n" for line in cleared).encode())
                blanked += count
        return blanked

    def _queues(self, session: str | None) -> list[Path]:
        if session is None:
            return sorted(self._folder.glob("*.jsonl"))
        path = self._folder / f"{_file_name(session)}.jsonl"
        return [path] if path.exists() else []

    def _read(self, path: Path) -> list[str]:
        with locked(self._writing):
            return _content(path)[0]

    def _prune(self, path: Path, lines: int, now: datetime) -> None:
        if now.timestamp() - path.stat().st_mtime < KEPT_FOR.total_seconds():
            return
        with locked(self._writing):
            if len(_content(path)[0]) == lines:
                _marker(path).unlink(missing_ok=True)  # first: alone it would speak of a new queue
                path.unlink()


def platforms(root: Path) -> list[str]:
    """The platforms of which a queue is kept below `root`; folders of other names are nobody's."""
    folder = root / "candidates"
    found = [one.name for one in folder.iterdir() if one.is_dir()] if folder.is_dir() else []
    return sorted(name for name in found if is_platform(name))


def _file_name(session: str) -> str:
    """The session's own name where every file system takes it as it is, else its digest."""
    if _SAFE_NAME.fullmatch(session):
        return session
    return "=" + sha256_hex(session)[:40]


def _marker(path: Path) -> Path:
    return path.with_suffix(".kept")


def _kept_lines(path: Path, lines: Sequence[str]) -> int:
    """How many of `lines` have been kept.

    A count that is unreadable, or of a queue that is no more, is none: keeping twice does no harm.
    """
    try:
        count = int(_marker(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
    return count if 0 <= count <= len(lines) else 0


def _content(path: Path) -> tuple[list[str], int]:
    """The whole lines and how many bytes they take.

    What a killed writer left behind the last line break was never noticed.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    whole = raw.rfind(b"\n") + 1
    return raw[:whole].decode("utf-8", "replace").split("\n")[:-1], whole


def _statements(
    path: Path, lines: Sequence[str], done: int, agent: str | None, now: datetime
) -> tuple[list[Signal], list[SetAside]]:
    found: list[Signal] = []
    bad: list[SetAside] = []
    for number, line in _unkept(lines, done):
        try:
            found.append(_statement(line, agent, now))
        except InvalidSignal as refused:
            bad.append(SetAside(path.name, number, refused.message))
    return found, bad


def _unkept(lines: Sequence[str], done: int) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines[done:], done + 1):
        if line != _FORGOTTEN:
            yield number, line


def _statement(line: str, agent: str | None, now: datetime) -> Signal:
    payload = _object(line)
    source = payload.get("source")
    if agent is not None and isinstance(source, dict):
        heard = cast("dict[str, Any]", source)
        payload = {**payload, "source": {**heard, "agent": heard.get("agent") or agent}}
    return captured_from(payload, received_at=now)


def _object(line: str) -> dict[str, Any]:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidSignal("line is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidSignal("line is not an object")
    return cast("dict[str, Any]", value)


def _is_about(line: str, key: str) -> bool:
    try:
        return checked_key(_object(line).get("key"))[0] == key
    except InvalidSignal:
        return False
