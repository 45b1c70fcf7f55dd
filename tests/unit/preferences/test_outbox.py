"""Signals wait in files until the remote has answered for them; nothing is lost, nothing blocks."""

from __future__ import annotations

import json
import stat
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.kit.errors import Unavailable
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.outbox import PUSH_SIGNALS, Outbox
from judgment.preferences.signals import signal_from
from tests.fakes.remotes import FakeRemote

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
pytestmark = pytest.mark.promise("P3-fulcra-outbox")


def signal(key: str, **changes: Any) -> Signal:
    payload = {"key": key, "value": True, "strength": 0.5, "source": {"platform": "codex"}}
    return signal_from({**payload, **changes}, received_at=NOW)


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path, lambda: NOW)


def minute() -> Deadline:
    return Deadline.after(60)


def files(outbox: Outbox) -> list[str]:
    return sorted(path.name for path in outbox.folder.glob("*.json"))


def test_what_waits_is_sent_in_the_order_in_which_it_came_and_then_gone(outbox: Outbox) -> None:
    signals = [signal(f"a.k{number}") for number in range(5)]
    for one in signals:
        outbox.add([one])
    remote = FakeRemote()
    done = outbox.flush(remote, minute())
    assert (done.sent, done.waiting, done.trouble) == (5, 0, None)
    assert remote.arrivals == [one.id for one in signals]
    assert [remote.kept[one.id] for one in signals] == signals
    assert files(outbox) == []


def test_many_small_batches_travel_together(outbox: Outbox) -> None:
    for number in range(PUSH_SIGNALS + 20):
        outbox.add([signal(f"a.k{number}")])
    remote = FakeRemote()
    outbox.flush(remote, minute())
    assert [len(push) for push in remote.pushes] == [PUSH_SIGNALS, 20]


def test_an_outage_keeps_everything_and_the_next_flush_sends_it(outbox: Outbox) -> None:
    outbox.add([signal("a.b"), signal("a.c")])
    remote = FakeRemote()
    remote.down = True
    first = outbox.flush(remote, minute())
    assert (first.sent, first.waiting, first.trouble) == (0, 2, "The fake is down.")
    remote.down = False
    assert outbox.flush(remote, minute()).sent == 2
    assert outbox.waiting() == 0


@pytest.mark.promise("P3-defect-05")
def test_a_rejected_signal_is_a_dead_letter_with_its_reason_and_is_never_sent_again(
    outbox: Outbox,
) -> None:
    good, bad = signal("a.good"), signal("a.bad")
    outbox.add([bad, good])
    remote = FakeRemote()
    remote.refuses = {bad.id}
    done = outbox.flush(remote, minute())
    assert (done.sent, done.rejected, done.waiting) == (1, {bad.id: "declined by the fake"}, 0)
    [letter] = outbox.dead()
    assert (letter.id, letter.reason, letter.at) == (
        bad.id,
        "declined by the fake",
        "2026-06-10T12:00:00Z",
    )
    outbox.flush(remote, minute())
    assert len(remote.pushes) == 1


def test_a_dead_letter_can_wait_again(outbox: Outbox) -> None:
    bad = signal("a.bad")
    outbox.add([bad])
    remote = FakeRemote()
    remote.refuses = {bad.id}
    outbox.flush(remote, minute())
    remote.refuses = ()
    assert outbox.revive(["another"]) == 0
    assert outbox.revive() == 1
    assert outbox.dead() == []
    assert outbox.flush(remote, minute()).sent == 1


def test_what_the_remote_did_not_answer_for_waits_on_without_what_it_did(outbox: Outbox) -> None:
    signals = [signal(f"a.k{number}") for number in range(4)]
    outbox.add(signals)
    remote = FakeRemote()
    remote.limit = 3
    done = outbox.flush(remote, minute())
    assert (done.sent, done.waiting, done.trouble) == (3, 1, "The fake went down.")
    remote.limit = None
    outbox.flush(remote, minute())
    assert remote.pushes[1] == [signals[3].id]


@pytest.mark.parametrize(
    "content",
    ["", "{", "null", "[]", '{"v":2,"signals":[]}', '{"v":1}', '{"v":1,"withdraw":{}}', "\xff"],
)
def test_a_file_that_cannot_be_read_is_set_aside_and_told_of_and_blocks_nothing(
    outbox: Outbox, content: str
) -> None:
    outbox.add([signal("a.b")])
    (outbox.folder / "000000000000.json").write_bytes(content.encode("latin-1"))
    outbox.add([signal("a.c")])
    done = outbox.flush(FakeRemote(), minute())
    assert (done.sent, done.waiting, done.damaged) == (2, 0, ("000000000000.json",))
    assert outbox.damaged() == ["000000000000.json"]
    moved = outbox.damaged_folder / "000000000000.json"
    assert moved.read_bytes() == content.encode("latin-1")


def test_an_entry_that_is_no_signal_is_a_dead_letter_and_its_neighbours_are_sent(
    outbox: Outbox,
) -> None:
    outbox.add([signal("a.b"), signal("a.c")])
    [name] = files(outbox)
    path = outbox.folder / name
    content = json.loads(path.read_text())
    content["signals"][0]["strength"] = 9
    path.write_text(json.dumps(content))
    assert outbox.flush(FakeRemote(), minute()).sent == 1
    [letter] = outbox.dead()
    assert (letter.id, letter.entry["key"], letter.entry["strength"]) == ("", "a.b", 9)
    assert outbox.revive() == 0
    assert files(outbox) == []


@pytest.mark.parametrize(
    "odd",
    ["NaN", '"\\ud800"', "[" * 400 + "]" * 400, '{"key":"\\udfff"}', '{"key":"a.b","x":NaN}'],
    ids=lambda odd: odd[:30],
)  # fmt: skip
def test_an_entry_that_cannot_be_written_again_is_a_dead_letter_all_the_same(
    outbox: Outbox, odd: str
) -> None:
    outbox.add([signal("a.b")])
    [name] = files(outbox)
    text = (outbox.folder / name).read_text()
    (outbox.folder / name).write_text(text.replace('"signals":[', f'"signals":[{odd},'))
    outbox.forget("another.key", NOW)
    done = outbox.flush(FakeRemote(), minute())
    assert (done.sent, done.waiting, len(outbox.dead())) == (1, 0, 1)
    assert files(outbox) == []


def test_a_signal_added_twice_is_sent_once_in_a_push_and_is_the_same_signal_at_the_remote(
    outbox: Outbox,
) -> None:
    again = signal("a.b")
    outbox.add([again])
    outbox.add([again])
    assert outbox.waiting() == 1
    remote = FakeRemote()
    outbox.flush(remote, minute())
    outbox.add([again])
    outbox.flush(remote, minute())
    assert remote.pushes == [[again.id], [again.id]]
    assert list(remote.kept) == [again.id]


@pytest.mark.promise("P3-defect-22")
def test_two_flushes_at_once_send_once(outbox: Outbox, tmp_path: Path) -> None:
    outbox.add([signal("a.b")])
    remote, other = FakeRemote(), FakeRemote()
    seen: list[Any] = []
    second = Outbox(tmp_path, lambda: NOW)
    remote.during = lambda: seen.append(second.flush(other, minute()))
    assert outbox.flush(remote, minute()).sent == 1
    assert other.pushes == []
    assert (seen[0].busy, seen[0].waiting, seen[0].sent) == (True, 1, 0)


@pytest.mark.promise("P3-defect-22")
def test_signals_added_while_others_are_sent_are_neither_lost_nor_held_up(
    outbox: Outbox, tmp_path: Path
) -> None:
    first, late = signal("a.first"), signal("a.late")
    outbox.add([first])
    remote = FakeRemote()
    added = threading.Event()

    def add() -> None:
        Outbox(tmp_path, lambda: NOW).add([late])
        added.set()

    def during() -> None:
        remote.during = lambda: None
        threading.Thread(target=add).start()
        assert added.wait(30)

    remote.during = during
    done = outbox.flush(remote, minute())
    assert (done.sent, done.waiting) == (1, 1)
    outbox.flush(remote, minute())
    assert remote.arrivals == [first.id, late.id]


def test_a_flush_begins_nothing_after_its_deadline_and_hands_on_what_is_left(
    outbox: Outbox,
) -> None:
    for number in range(3 * PUSH_SIGNALS):
        outbox.add([signal(f"a.k{number}")])
    left = [2.5]
    deadline = Deadline(lambda: left[0])
    remote = FakeRemote()

    def during() -> None:
        left[0] -= 2

    remote.during = during
    done = outbox.flush(remote, deadline)
    assert (done.sent, done.waiting, done.trouble) == (
        2 * PUSH_SIGNALS,
        PUSH_SIGNALS,
        "Out of time.",
    )
    assert remote.deadlines == [deadline, deadline]


def test_what_is_forgotten_before_it_was_sent_is_never_sent(outbox: Outbox) -> None:
    mine, other = signal("health.diet", observed_at="2999-01-01T00:00:00Z"), signal("a.b")
    outbox.add([mine, other])
    outbox.add([mine])
    outbox.forget("health.diet", NOW, [mine.id])
    again = signal("health.diet")
    outbox.add([again])
    remote = FakeRemote()
    done = outbox.flush(remote, minute())
    assert remote.arrivals == [other.id, again.id]
    assert remote.withdrawals == [("health.diet", NOW, (mine.id,))]
    assert (done.withdrawn, done.waiting) == (0, 0)
    assert list(remote.kept) == [other.id, again.id]


def test_a_withdrawal_waits_through_an_outage_and_keeps_its_place(outbox: Outbox) -> None:
    sent = signal("health.diet")
    outbox.add([sent])
    remote = FakeRemote()
    outbox.flush(remote, minute())
    outbox.forget("health.diet", NOW)
    remote.down = True
    assert outbox.flush(remote, minute()).trouble == "The fake is down."
    remote.down = False
    assert outbox.flush(remote, minute()).withdrawn == 1
    assert remote.kept == {}
    assert files(outbox) == []


def test_nothing_is_sent_past_what_is_stuck(outbox: Outbox) -> None:
    outbox.add([signal("a.b"), signal("a.c")])
    outbox.forget("health.diet", NOW)
    outbox.add([signal("a.d")])
    remote = FakeRemote()
    remote.limit = 1
    assert outbox.flush(remote, minute()).trouble == "The fake went down."
    assert (len(remote.pushes), remote.withdrawals) == (1, [])


def test_forgetting_takes_dead_letters_of_the_key_along(outbox: Outbox) -> None:
    mine, other = signal("health.diet"), signal("a.b")
    outbox.add([mine, other])
    remote = FakeRemote()
    remote.refuses = {mine.id, other.id}
    outbox.flush(remote, minute())
    outbox.forget("health.diet", NOW + timedelta(days=1))
    assert [letter.id for letter in outbox.dead()] == [other.id]


@pytest.mark.parametrize("asked", ["caf\u00e9.oat", "cafe\u0301.oat"])
@pytest.mark.parametrize("said", ["caf\u00e9.oat", "cafe\u0301.oat"])
def test_no_spelling_of_a_forgotten_key_is_left_waiting_or_dead(
    outbox: Outbox, asked: str, said: str
) -> None:
    """Nor until the next flush: an outbox that is never flushed must not keep it either."""
    dead, waits, other = signal(said, value="SECRET 1"), signal(said, value="SECRET 2"), signal("a")
    remote = FakeRemote()
    remote.refuses = {dead.id}
    outbox.add([dead])
    outbox.flush(remote, minute())
    outbox.add([waits, other])
    outbox.forget(asked, NOW)
    left = [path for path in outbox.folder.rglob("*") if path.is_file()]
    assert [path.name for path in left if b"SECRET" in path.read_bytes()] == []
    assert (outbox.dead(), outbox.waiting()) == ([], 1)
    outbox.flush(remote, minute())
    assert remote.arrivals == [other.id]
    assert [key for key, *_ in remote.withdrawals] == ["caf\u00e9.oat"]


def test_forgetting_loses_no_entry_about_another_key_and_keeps_none_about_its_own(
    outbox: Outbox,
) -> None:
    outbox.add([signal("health.diet"), signal("a.other"), signal("health.diet", value="SECRET")])
    [name] = files(outbox)
    content = json.loads((outbox.folder / name).read_text())
    for entry in content["signals"][1:]:
        entry["v"] = 2  # as a later version of the program would write it
    (outbox.folder / name).write_text(json.dumps(content))
    outbox.forget("health.diet", NOW)
    outbox.flush(FakeRemote(), minute())
    assert [letter.entry["key"] for letter in outbox.dead()] == ["a.other"]


def test_a_second_damaged_file_of_a_name_does_not_take_the_place_of_the_first(
    outbox: Outbox,
) -> None:
    for content in ("first", "second", "third"):
        outbox.add([signal("a.b")])
        [name] = files(outbox)
        (outbox.folder / name).write_text(content)
        assert outbox.flush(FakeRemote(), minute()).damaged == (name,)
    kept = [(outbox.damaged_folder / name).read_text() for name in outbox.damaged()]
    assert sorted(kept) == ["first", "second", "third"]


def test_what_dies_while_it_is_being_forgotten_is_gone_after_the_next_flush(
    outbox: Outbox, tmp_path: Path
) -> None:
    mine = signal("health.diet")
    outbox.add([mine])
    remote = FakeRemote()
    remote.refuses = {mine.id}
    remote.during = lambda: Outbox(tmp_path, lambda: NOW).forget("health.diet", NOW, [mine.id])
    outbox.flush(remote, minute())
    outbox.flush(remote, minute())
    assert outbox.dead() == []
    assert files(outbox) == []


def test_consent_is_never_put_up_to_be_sent(outbox: Outbox) -> None:
    with pytest.raises(InvalidSignal, match="consent"):
        outbox.add([signal("consent.grant.bob", kind="consent")])
    assert not outbox.folder.exists()


def test_files_are_the_owners_alone(outbox: Outbox) -> None:
    bad = signal("a.bad")
    outbox.add([bad])
    remote = FakeRemote()
    remote.refuses = {bad.id}
    outbox.flush(remote, minute())
    outbox.add([signal("a.b")])
    for path in [outbox.folder, *outbox.folder.rglob("*")]:
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path


def test_a_place_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "closed").write_text("")
    with pytest.raises(Unavailable, match="is no folder"):
        Outbox(tmp_path / "closed", lambda: NOW).add([signal("a.b")])


def test_an_outbox_that_was_never_used_has_nothing_to_send(outbox: Outbox) -> None:
    remote = FakeRemote()
    assert outbox.flush(remote, minute()).waiting == 0
    assert remote.pushes == []
    assert not outbox.folder.exists()
