"""Private files: whole or not at all, locked over processes, refused in plain words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judgment.kit.errors import Unavailable
from judgment.kit.files import (
    append_private,
    locked,
    make_folder,
    read_private,
    shown,
    sweep,
    write_private,
)

pytestmark = pytest.mark.promise("P3-cli-files")


def mode(path: Path) -> int:
    """The permissions of a path."""
    return path.stat().st_mode & 0o777


def test_a_written_file_and_its_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_folder(tmp_path / "a" / "b")
        write_private(tmp_path / "a" / "b" / "file", b"x")
        append_private(tmp_path / "a" / "b" / "log", b"x", keep=0)
    finally:
        os.umask(before)
    assert [mode(p) for p in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    assert [mode(tmp_path / "a" / "b" / name) for name in ("file", "log")] == [0o600, 0o600]


def test_a_write_replaces_what_was_there_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, b"one")
    write_private(path, b"two")
    assert read_private(path) == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_at_the_place_is_replaced_and_never_followed(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "file"
    other.write_text("theirs")
    path.symlink_to(other)
    with pytest.raises(Unavailable, match="symbolic link"):
        read_private(path)
    with pytest.raises(Unavailable, match="symbolic link"):
        append_private(path, b"ours", keep=0)
    write_private(path, b"ours")
    assert (other.read_text(), path.read_text(), path.is_symlink()) == ("theirs", "ours", False)


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(Unavailable):
            read_private(tmp_path / name)
    assert read_private(tmp_path / "nothing") is None


@pytest.mark.parametrize("write", [
    lambda path: write_private(path, b"x"), lambda path: append_private(path, b"x", keep=0),
])  # fmt: skip
def test_what_the_system_refuses_is_said_with_the_place_and_the_reason(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match=r"missing/x was not written: its folder is missing"):
        write(tmp_path / "missing" / "x")
    with pytest.raises(Unavailable, match="a part of its path is no folder"):
        write(tmp_path / "file" / "x")


def test_a_path_is_shown_without_a_terminals_escapes(tmp_path: Path) -> None:
    assert "\x1b" not in shown(tmp_path / "\x1b[31mred")
    assert shown(Path("/caf\u00e9")) == "/caf\u00e9"


FULL = """
import resource, sys
from pathlib import Path
from judgment.kit.errors import Unavailable
from judgment.kit.files import append_private, write_private
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
path = Path(sys.argv[1])
try:
    if sys.argv[2] == "write":
        write_private(path, b"n" * 10_000)
    else:
        append_private(path, b"n" * 10_000, keep=path.stat().st_size)
except Unavailable as refused:
    print(refused.message)
"""


@pytest.mark.parametrize("how", ["write", "append"])
def test_a_write_that_finds_no_room_half_way_leaves_what_was_there(
    tmp_path: Path, how: str
) -> None:
    """The limit on a file's size stands for a full disk: it too takes a part and then refuses."""
    path = tmp_path / "file"
    path.write_bytes(b"before\n")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), how], capture_output=True, text=True, check=True
    )
    assert "larger than the system allows" in done.stdout
    assert path.read_bytes() == b"before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_an_append_cuts_off_what_stands_behind(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\nto")
    path.chmod(0o644)
    append_private(path, b"two\n", keep=4)
    assert (path.read_bytes(), mode(path)) == (b"one\ntwo\n", 0o600)


def test_sweeping_takes_only_what_died(tmp_path: Path) -> None:
    for name in (".file.1-ab.part", "file", "file.part", ".other"):
        (tmp_path / name).write_text("")
    assert sweep(tmp_path) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == [".other", "file", "file.part"]


HOLDER = """
import sys
from pathlib import Path
from judgment.kit.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_keeps_other_processes_out_until_its_holder_ends_or_dies(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Unavailable, match="held by another process"), locked(path, seconds=0):
            pytest.fail("two held it")
        holder.kill()
        holder.wait()
        with locked(path):
            assert mode(path) == 0o600


def test_a_lock_keeps_other_handles_of_this_process_out_too(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), pytest.raises(Unavailable), locked(path, seconds=0.01):
        pytest.fail("two held it")
    with locked(path, seconds=0):
        assert path.exists()


def test_a_lock_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "lock", tmp_path / "missing" / "lock"):
        with pytest.raises(Unavailable), locked(path):
            pytest.fail("it was held")
