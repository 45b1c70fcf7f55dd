"""What goes wrong with a folder: said plainly, with nothing lost and nothing half-written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judgment.kit.errors import Refusal, Unavailable
from judgment.preferences.disclosure import Wanted, disclose
from judgment.preferences.local.store import LocalStore
from tests.architecture.source import ROOT
from tests.unit.preferences.local.stores import NOW, Clock, opened, statement

pytestmark = pytest.mark.promise("P3-refuse", "P3-cli-files")


def contents(root: Path) -> dict[str, bytes]:
    """What lies in a folder."""
    found = (p for p in root.rglob("*") if p.is_file())
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in found}


def filled(folder: Path) -> LocalStore:
    """A store with a signal, its document, consent and a ledger."""
    store = opened(folder)
    store.append([statement("a")])
    store.compile()
    store.decide({"effect": "allow", "key_glob": "*", "audience": "bob"})
    disclose(store, Wanted("bob"), NOW)
    return store


def mode(path: Path) -> int:
    """The permissions of a path."""
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_in_the_folder_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = filled(tmp_path / "new" / "folders")
        store.append([statement("a", 2, scope="platform:codex")])
        store.compile()
        store.forget("a")
    finally:
        os.umask(before)
    paths = [store.root, *store.root.rglob("*"), store.root.parent, store.root.parent.parent]
    assert {mode(p) for p in paths if p.is_dir()} == {0o700}
    assert {mode(p) for p in paths if p.is_file()} == {0o600}


CHILD = """
import resource, sys
from pathlib import Path
from judgment.kit.errors import Refusal
from judgment.preferences.disclosure import Wanted, disclose
from tests.unit.preferences.local.stores import NOW, opened, statement
import os
if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)
elif os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
store = opened(Path(sys.argv[1]))
acts = {
    "capture": lambda: store.append([statement(f"k{n}", "x" * 400) for n in range(20)]),
    "compile": lambda: store.compile(),
    "decide": lambda: store.decide({"effect": "revoke", "key_glob": "*", "audience": "bob"}),
    "disclose": lambda: disclose(store, Wanted("bob"), NOW),
    "forget": lambda: store.forget("a"),
}
try:
    found = acts[sys.argv[3]]()
except Refusal as refused:
    print("refused:", refused.message)
else:
    print("done", found)
"""
"""Does one thing with no room left (a limit on any file's size, which takes a part of a write as a
full disk does) or as somebody who may not write."""


def said(folder: Path, how: str, action: str, room: int = 0) -> str:
    """What a child says that does one thing in trouble."""
    command = [sys.executable, "-c", CHILD, str(folder), how, action, str(room)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


ACTIONS = ("capture", "decide", "disclose", "forget")


@pytest.mark.parametrize("room", [0, 100, 700])
@pytest.mark.parametrize("action", ["capture", "compile", "decide", "disclose", "forget"])
def test_a_full_disk_is_said_and_leaves_what_was_there(
    tmp_path: Path, action: str, room: int
) -> None:
    store = filled(tmp_path)
    store.append([statement("b" * 150, "y" * 500)])
    signals, document, events = store.signals(), store.document(), store.grants().events
    text = said(tmp_path, "full", action, room)
    if text.startswith("refused:"):
        assert "larger than the system allows" in text
        assert "value" not in text
        assert store.grants().events == events
    if action != "forget" or text.startswith("refused:"):
        assert store.signals() == signals
    assert store.document() is not None
    assert store.document() == document or action in ("compile", "forget")
    assert store.verify().intact
    assert list(store.root.rglob("*.part")) == []
    store.compile()
    store.append([statement("after")])
    assert disclose(store, Wanted("bob"), NOW).denied == ()


def test_a_refusal_of_a_full_disk_is_reached_by_each_action(tmp_path: Path) -> None:
    for action in ACTIONS:
        folder = tmp_path / action
        filled(folder)
        assert said(folder, "full", action).startswith("refused:"), action


@pytest.fixture
def for_others() -> Iterator[Path]:
    """A folder that another user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_folder_that_may_not_be_written_to_is_said(for_others: Path, action: str) -> None:
    """As root, whom permissions do not stop, a child becomes somebody else first."""
    store = filled(for_others)
    before = contents(store.root)
    for path in (store.root, *store.root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    text = said(for_others, "another user", action)
    assert text.startswith("refused:")
    assert "belongs to another user" in text or "you may not" in text
    assert contents(store.root) == before


def test_a_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "prefs").symlink_to(tmp_path / "real")
    store = filled(tmp_path)
    assert (tmp_path / "real" / "compiled.json").exists()
    assert store.document() is not None


@pytest.mark.parametrize("name", ["signals.jsonl", "consent.jsonl", "ledger.jsonl", ".lock"])
def test_a_stream_that_is_a_link_is_refused_and_its_target_left_alone(
    tmp_path: Path, name: str
) -> None:
    store = filled(tmp_path)
    target = tmp_path / "target"
    target.write_text("theirs\n")
    (store.root / name).unlink()
    (store.root / name).symlink_to(target)
    acts: list[Callable[[], object]] = [
        lambda: store.append([statement("b")]),
        lambda: store.decide({"effect": "deny", "key_glob": "*", "audience": "*"}),
        lambda: disclose(store, Wanted("bob"), NOW),
    ]
    refused: list[str] = []
    for act in acts:
        try:
            act()
        except Unavailable as error:
            refused.append(error.message)
    assert len(refused) >= 1
    assert all("symbolic link" in message for message in refused)
    assert target.read_text() == "theirs\n"


@pytest.mark.parametrize("others", [0o777, 0o770, 0o702])
def test_a_folder_in_which_others_may_write_is_refused(tmp_path: Path, others: int) -> None:
    (tmp_path / "prefs").mkdir()
    (tmp_path / "prefs").chmod(others)
    with pytest.raises(Unavailable, match="chmod go-w"):
        opened(tmp_path).append([statement("a")])
    assert list((tmp_path / "prefs").iterdir()) == []


def test_a_folder_into_which_others_may_look_is_used_and_its_files_are_private(
    tmp_path: Path,
) -> None:
    (tmp_path / "prefs").mkdir()
    (tmp_path / "prefs").chmod(0o755)
    store = filled(tmp_path)
    assert {mode(p) for p in store.root.rglob("*") if p.is_file()} == {0o600}


def test_a_restored_stream_that_others_may_read_becomes_private_with_the_next_write(
    tmp_path: Path,
) -> None:
    store = filled(tmp_path)
    (store.root / "signals.jsonl").chmod(0o644)
    store.append([statement("b")])
    assert mode(store.root / "signals.jsonl") == 0o600


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    store = LocalStore(tmp_path / place, Clock())
    with pytest.raises(Refusal, match="file"):
        store.append([statement("a")])
    assert (tmp_path / "file").read_text() == "in the way"


def test_reading_makes_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert (store.document(), store.signals(), store.ledger()) == (None, ([], []), [])
    assert (store.grants().events, store.verify().intact, store.meta()) == ((), True, {"v": 1})
    assert not store.root.exists()


@pytest.mark.parametrize(
    "spoilt",
    ["", "[]", '{"v":2}',
     '{"v":1,"x":NaN}', '{"v":1,"x":"\\ud800"}', '{"v":1,"x":1e999}', "[" * 9_999,],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_a_meta_file_that_cannot_be_kept_as_it_is_is_never_written_over(
    tmp_path: Path, spoilt: str
) -> None:
    """It holds the ledger's head: without it nothing is shown and nothing is overwritten."""
    store = filled(tmp_path)
    (store.root / "meta.json").write_text(spoilt)
    before = contents(store.root)
    for act in (
        lambda: store.append([statement("b")]),
        lambda: store.forget("a"),
        lambda: disclose(store, Wanted("bob"), NOW),
        lambda: store.remember(definition_id="x"),
        store.meta,
    ):
        with pytest.raises(Unavailable, match=r"meta\.json"):
            act()
    assert contents(store.root) == before
    assert store.document() is not None


@pytest.mark.parametrize("position", [2**53 - 1, 2**53, -1, "x", None, 1.5, True, []])
def test_positions_that_were_changed_by_hand_make_no_capture_unreadable(
    tmp_path: Path, position: object
) -> None:
    store = opened(tmp_path)
    store.append([statement("a"), statement("gone")])
    store.forget("gone")
    for name in ("meta.json", "signals.jsonl"):
        record = json.loads((store.root / name).read_text())
        (store.root / name).write_text(json.dumps({**record, "position": position}) + "\n")
    store.append([statement("b"), statement("c")])
    readable = [signal.key for signal in store.signals()[0]]
    assert readable[-2:] == ["b", "c"]
    assert store.append([statement("b")])[0].is_new is False
    assert store.compile().report.repeats == 0


@pytest.mark.parametrize("name", ["\\ud800", "x" * 300, "a\\u001b[2J"])
def test_a_step_of_consent_with_an_id_that_is_none_counts_and_is_summed(
    tmp_path: Path, name: str
) -> None:
    store = filled(tmp_path)
    with (store.root / "consent.jsonl").open("a") as file:
        file.write(
            f'{{"id":"{name}","effect":"deny","key_glob":"*","audience":"bob","level":"read",'
            '"expires":null}\n'
        )
    store.compile()
    assert not store.grants().open("a", "bob", "read", NOW)
    assert [one["id"] for one in store.grants().view(NOW)["denials"]] == [""]
