"""What a session noticed waits in a file until it is kept: none lost, none twice, none forged."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgment.kit.errors import Unavailable
from judgment.preferences.candidates import KEPT_FOR, Candidates, platforms
from judgment.preferences.model import InvalidSignal, Signal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-cli-files", "P3-defect-22")
NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


def statement(value: object = True, session: str = "s", **more: Any) -> dict[str, Any]:
    source = {"platform": "codex", "session": session}
    return {"key": "editor.indent", "value": value, "strength": 0.5, "source": source, **more}


@pytest.fixture
def queue(tmp_path: Path) -> Candidates:
    return Candidates(tmp_path, "codex")


class Shelf:
    """Something that keeps signals by id, as every store does."""

    def __init__(self) -> None:
        self.kept: dict[str, Signal] = {}
        self.is_down = False

    def keep(self, signals: Sequence[Signal]) -> None:
        if self.is_down:
            raise Unavailable("The shelf is down.")
        self.kept.update({signal.id: signal for signal in signals})

    @property
    def values(self) -> list[Any]:
        return [signal.value for signal in self.kept.values()]


def test_statements_are_kept_in_order_with_when_they_were_said(queue: Candidates) -> None:
    queue.notice(statement("tabs"), NOW)
    queue.notice(statement("spaces"), NOW)
    shelf = Shelf()
    queue.drain(shelf.keep, NOW + timedelta(days=3))
    assert [(s.value, s.source.sequence, s.observed_at) for s in shelf.kept.values()] == [
        ("tabs", 0, NOW),
        ("spaces", 1, NOW),
    ]
    assert (queue.waiting(), queue.drain(shelf.keep, NOW).signals) == (0, ())
    queue.notice(statement("both"), NOW)
    queue.drain(shelf.keep, NOW)
    assert shelf.values == ["tabs", "spaces", "both"]


def test_notices_at_once_are_all_there_each_at_its_own_place(
    queue: Candidates, tmp_path: Path
) -> None:
    begin = threading.Barrier(8)

    def speak(number: int) -> None:
        own = Candidates(tmp_path, "codex")
        begin.wait(30)
        for turn in range(5):
            own.notice(statement([number, turn]), NOW)

    speakers = [threading.Thread(target=speak, args=(number,)) for number in range(8)]
    for one in speakers:
        one.start()
    for one in speakers:
        one.join(60)
    shelf = Shelf()
    queue.drain(shelf.keep, NOW)
    assert sorted(shelf.values) == [[number, turn] for number in range(8) for turn in range(5)]
    assert [s.source.sequence for s in shelf.kept.values()] == list(range(40))


def test_what_could_not_be_kept_waits(queue: Candidates) -> None:
    queue.notice(statement(), NOW)
    shelf = Shelf()
    shelf.is_down = True
    with pytest.raises(Unavailable):
        queue.drain(shelf.keep, NOW)
    assert queue.waiting() == 1
    shelf.is_down = False
    queue.drain(shelf.keep, NOW)
    assert (shelf.values, queue.waiting()) == ([True], 0)


@pytest.mark.parametrize("count", ["-1", "7", "", "two", "\u0662", "9" * 5_000, "1 1"])
def test_a_count_that_cannot_be_of_this_queue_loses_no_statement(
    queue: Candidates, tmp_path: Path, count: str
) -> None:
    """It may be left of a queue that was removed: by a prune that died, or by hand."""
    for value in ("tabs", "spaces"):
        queue.notice(statement(value), NOW)
    (tmp_path / "candidates" / "codex" / "s.kept").write_text(count)
    assert queue.waiting() == 2
    shelf = Shelf()
    queue.drain(shelf.keep, NOW)
    assert (shelf.values, queue.waiting()) == (["tabs", "spaces"], 0)


def test_lines_that_are_no_statements_are_told_of_and_stop_nothing(
    queue: Candidates, tmp_path: Path
) -> None:
    queue.notice(statement("first"), NOW)
    path = tmp_path / "candidates" / "codex" / "s.jsonl"
    consent = '{"key":"consent.grant.bob","kind":"consent","value":1,"strength":1}'
    with path.open("ab") as file:
        file.write(b"[1]\n\xff\xfe\n" + b"[" * 50_000 + b"\n" + consent.encode() + b'\n{"torn')
    queue.notice(statement("last"), NOW)
    shelf = Shelf()
    found = queue.drain(shelf.keep, NOW)
    assert shelf.values == ["first", "last"]
    assert [one.line for one in found.set_aside] == [2, 3, 4, 5]
    assert b"torn" not in path.read_bytes()


def test_forgetting_blanks_every_spelling_kept_or_not_and_moves_no_place(
    queue: Candidates, tmp_path: Path
) -> None:
    queue.notice(statement("SECRET", key="cafe\u0301.oat"), NOW)
    shelf = Shelf()
    queue.drain(shelf.keep, NOW)
    queue.notice(statement("SECRET", key="caf\u00e9.oat"), NOW)
    queue.notice(statement("other"), NOW)
    assert queue.forget("cafe\u0301.oat") == 2
    assert b"SECRET" not in (tmp_path / "candidates" / "codex" / "s.jsonl").read_bytes()
    after = Shelf()
    queue.drain(after.keep, NOW)
    assert [(s.value, s.source.sequence) for s in after.kept.values()] == [("other", 2)]
    assert queue.forget("cafe\u0301.oat") == 0


@pytest.mark.parametrize("session", ["../../x", "A/b", "\u00e9", "x" * 200, "con", "S"])
def test_a_sessions_name_is_never_a_path(queue: Candidates, tmp_path: Path, session: str) -> None:
    queue.notice(statement(session=session), NOW)
    found = list(tmp_path.rglob("*.jsonl"))
    assert [path.parent for path in found] == [tmp_path / "candidates" / "codex"]
    assert len(queue.drain(Shelf().keep, NOW, session).signals) == 1
    assert platforms(tmp_path) == ["codex"]


def test_a_folder_of_another_name_is_no_queue_and_stops_nothing(
    queue: Candidates, tmp_path: Path
) -> None:
    queue.notice(statement(), NOW)
    for name in (".Trash", "Old notes", "x" * 41):
        (tmp_path / "candidates" / name).mkdir()
    assert platforms(tmp_path) == ["codex"]


@pytest.mark.parametrize("name", ["", "../x", "Codex", "a/b", "x" * 41])
def test_a_platform_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidSignal):
        Candidates(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_a_drained_queue_goes_after_its_days_and_its_session_may_speak_again(
    queue: Candidates, tmp_path: Path
) -> None:
    queue.notice(statement("tabs"), NOW)
    shelf = Shelf()
    queue.drain(shelf.keep, NOW)
    written = (tmp_path / "candidates" / "codex" / "s.jsonl").stat().st_mtime
    later = datetime.fromtimestamp(written, UTC) + KEPT_FOR + timedelta(seconds=1)
    queue.drain(shelf.keep, later)
    assert [p.name for p in (tmp_path / "candidates" / "codex").iterdir() if p.name[0] != "."] == []
    queue.notice(statement("spaces"), later)
    queue.drain(shelf.keep, later)
    assert shelf.values == ["tabs", "spaces"]
