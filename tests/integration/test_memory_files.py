"""Files are kept as bytes, each change is a commit, and none is made over what nobody has seen."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.db.connection import Database
from judgment.kit.errors import Unavailable
from judgment.memory import files
from judgment.memory.model import Change, MemoryFailure
from tests.fakes.memory_hands import NOW, OWNER, ROLE, Hand, assert_whole
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from judgment.memory.model import Commit
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-memory", "002-20.1")


@pytest.fixture
def hand(module_database: TestDatabase) -> Iterator[Hand]:
    memory = Database(module_database.url(ROLE))
    made = Hand.of_somebody(module_database, memory)
    yield made
    memory.close()
    assert_whole(module_database, made.who)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def commit(
    hand: Hand,
    contents: dict[str, bytes | None],
    expected: dict[str, str | None] | None = None,
    **given: Any,
) -> Commit | None:
    named = {"origin": "owner", "author": OWNER, "message": "Mine", "at": NOW, **given}
    with hand.begin() as tx:
        changes = [Change(path, content) for path, content in contents.items()]
        return files.commit(tx, hand.who, changes, expected=expected, **named)


def refusal(hand: Hand, contents: dict[str, bytes | None], **given: Any) -> tuple[str, str]:
    before = hand.state()
    with pytest.raises(MemoryFailure) as refused:
        commit(hand, contents, **given)
    assert hand.state() == before
    return refused.value.code, refused.value.message


def test_bytes_come_back_as_they_were_given(hand: Hand) -> None:
    contents = {
        "all.bin": bytes(range(256)),
        "empty.md": b"",
        "crlf.md": b"a\r\nb\n\n",
        "bom.md": b"\xef\xbb\xbfx",
        "über/ﬁ.md": "ﬁ\u0301".encode(),
    }
    assert commit(hand, dict(contents)) is not None
    assert hand.held() == contents
    with hand.begin() as tx:
        entries = files.entries(tx, hand.who)
        assert [e.path for e in entries] == sorted(contents, key=lambda one: one.encode())
        for entry in entries:
            stored = files.read(tx, hand.who, entry.path)
            assert entry.sha256 == stored.sha256 == sha256(contents[entry.path])
            assert files.digest(tx, hand.who, entry.path) == entry.sha256
            assert entry.bytes == len(contents[entry.path])
            assert (entry.revision, entry.updated_at) == (1, NOW)
        assert [e.path for e in files.entries(tx, hand.who, "über")] == ["über/ﬁ.md"]
        assert files.entries(tx, hand.who, "übe") == []


def test_what_is_not_there_is_not_found(hand: Hand) -> None:
    with hand.begin() as tx:
        assert files.digest(tx, hand.who, "a.md") is None
        with pytest.raises(MemoryFailure, match="not_found"):
            files.read(tx, hand.who, "a.md")
        assert files.history(tx, hand.who, "a.md") == []
        assert files.content_at(tx, hand.who, "a.md", 9) is None


def test_every_change_is_a_commit_with_its_author_message_and_time(hand: Hand) -> None:
    commit(hand, {"a.md": b"1", "b.md": b"b"})
    commit(hand, {"a.md": b"2"}, origin="tool", author="T <t@x>", message="Write a.md ✓")
    commit(hand, {"a.md": None})
    commit(hand, {"a.md": b"1"})
    with hand.begin() as tx:
        told = files.history(tx, hand.who, "a.md")
        assert [(v.commit.revision, v.sha256) for v in told] == [
            (4, sha256(b"1")),
            (3, None),
            (2, sha256(b"2")),
            (1, sha256(b"1")),
        ]
        second = told[2].commit
        assert (second.origin, second.author, second.message, second.at) == (
            "tool",
            "T <t@x>",
            "Write a.md ✓",
            NOW,
        )
        assert all(re.fullmatch("[0-9a-f]{40}", one.commit.id) for one in told)
        assert len({one.commit.id for one in told}) == 4
        assert [files.content_at(tx, hand.who, "a.md", n) for n in range(6)] == [
            None,
            b"1",
            b"2",
            None,
            b"1",
            b"1",
        ]
        assert [v.commit.revision for v in files.history(tx, hand.who, "a.md", 2)] == [4, 3]
        assert files.version(tx, hand.who, "a.md", second.id) == told[2]
        assert files.version(tx, hand.who, "a.md", second.id[:7]).commit == second
        for path, name in [("b.md", second.id), ("a.md", "0" * 40)]:
            with pytest.raises(MemoryFailure, match="not_found"):
                files.version(tx, hand.who, path, name)


def test_the_history_of_a_folder_is_that_of_its_files(hand: Hand) -> None:
    commit(hand, {"a/b.md": b"1", "a/c/d.md": b"2", "ab.md": b"3"})
    commit(hand, {"a/b.md": None})
    with hand.begin() as tx:
        told = files.history(tx, hand.who, "a")
    assert [(v.commit.revision, v.path) for v in told] == [
        (2, "a/b.md"),
        (1, "a/b.md"),
        (1, "a/c/d.md"),
    ]


def test_what_changes_nothing_is_no_commit(hand: Hand) -> None:
    assert commit(hand, {}) is None
    assert commit(hand, {"a.md": None}) is None
    commit(hand, {"a.md": b"1", "b.md": b"1"})
    assert commit(hand, {"a.md": b"1", "gone.md": None}) is None
    made = commit(hand, {"a.md": b"1", "b.md": b"2"})
    assert made is not None
    with hand.begin() as tx:
        assert [one.commit.revision for one in files.history(tx, hand.who, "a.md")] == [1]
        assert [one.commit.revision for one in files.history(tx, hand.who, "b.md")] == [2, 1]


def test_of_two_changes_of_a_file_the_last_counts(hand: Hand) -> None:
    changes = [
        Change("a.md", b"1"),
        Change("b.md", None),
        Change("a.md", None),
        Change("b.md", b"2"),
    ]
    with hand.begin() as tx:
        assert files.commit(tx, hand.who, changes, origin="owner", author="", message="", at=NOW)
    assert hand.held() == {"b.md": b"2"}


def test_a_content_is_kept_once(hand: Hand, module_database: TestDatabase) -> None:
    commit(hand, {"a.md": b"same", "b.md": b"same"})
    commit(hand, {"a.md": b"other"})
    commit(hand, {"a.md": b"same"})
    kept = rows(
        module_database, "SELECT content FROM judgment.memory_blobs WHERE user_id = %s", hand.who
    )
    assert sorted(bytes(one) for (one,) in kept) == [b"other", b"same"]


@pytest.mark.promise("P4-memory-cas")
def test_a_change_that_rests_on_what_is_no_more_is_refused_whole(hand: Hand) -> None:
    commit(hand, {"a.md": b"1", "b.md": b"1"})
    one = sha256(b"1")
    for expected in (
        {"a.md": sha256(b"0")},
        {"a.md": None},
        {"a.md": one, "new.md": one},
        {"b.md": one, "a.md": None},
    ):
        told = refusal(hand, {"a.md": b"2", "new.md": b"2"}, expected=expected)
        assert told[0] == "conflict"
        assert "changed since" in told[1]
    assert commit(hand, {"a.md": b"2", "c.md": b"2"}, expected={"a.md": one, "c.md": None})
    assert refusal(hand, {"a.md": b"2"}, expected={"a.md": one})[0] == "conflict"


@pytest.mark.promise("P4-memory-contain")
@pytest.mark.parametrize(
    ("there", "new", "named"),
    [
        ("me/profile.md", "me/Profile.md", "me/profile.md"),
        ("me/profile.md", "ME/todo.md", "me/"),
        ("me/profile.md", "me", "me/"),
        ("me/profile.md", "me/profile.md/x", "me/profile.md"),
        ("me/\u017f.md", "me/S.md", "me/\u017f.md"),
    ],
)
def test_what_would_be_mixed_up_elsewhere_does_not_come_to_be(
    hand: Hand, there: str, new: str, named: str
) -> None:
    commit(hand, {there: b"1"})
    code, message = refusal(hand, {"fine.md": b"1", new: b"2"})
    assert code == "path_invalid"
    assert named in message
    assert refusal(hand, {"A/x": b"", "a/y": b""})[0] == "path_invalid"


def test_a_name_may_change_its_case_or_become_a_folder_in_one_commit(hand: Hand) -> None:
    commit(hand, {"me/a.md": b"1", "b": b"2"})
    assert commit(hand, {"me/a.md": None, "Me/a.md": b"1", "b": None, "b/c": b"2"})
    assert hand.held() == {"Me/a.md": b"1", "b/c": b"2"}
    assert commit(hand, {"b/c": None, "b": b"3"})


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "ok\udfff"])
def test_an_author_and_a_message_are_text(hand: Hand, text: str) -> None:
    assert refusal(hand, {"a.md": b"1"}, author=text)[0] == "invalid_input"
    assert refusal(hand, {"a.md": b"1"}, message=text)[0] == "invalid_input"


def test_a_commit_that_is_rolled_back_was_never_there_and_has_the_same_name_again(
    hand: Hand,
) -> None:
    names: list[str] = []

    def lost(message: str) -> None:
        with hand.begin() as tx:
            made = files.commit(
                tx,
                hand.who,
                [Change("a.md", b"1")],
                origin="tool",
                author=OWNER,
                message=message,
                at=NOW,
            )
            assert made is not None
            names.append(made.id)
            raise Unavailable("lost")

    for message in ("m", "m", "other"):
        with pytest.raises(Unavailable):
            lost(message)
    assert names[0] == names[1] != names[2]
    assert hand.state() == ({}, [])


def test_an_owner_reads_and_changes_their_own_memory_alone(
    hand: Hand, module_database: TestDatabase
) -> None:
    other = Hand.of_somebody(module_database, hand.memory)
    commit(hand, {"a.md": b"mine", "b.md": b"mine"})
    first = commit(other, {"a.md": b"theirs"})
    assert first is not None
    assert first.revision == 1
    assert other.held() == {"a.md": b"theirs"}
    commit(other, {"a.md": None})
    assert hand.held() == {"a.md": b"mine", "b.md": b"mine"}
    with other.begin() as tx:  # whoever asks for another's under their own name finds nothing
        assert files.entries(tx, hand.who) == []
        assert files.history(tx, hand.who, "a.md") == []
    assert_whole(module_database, other.who)


def test_a_thousand_files_are_one_commit_and_soon_made(hand: Hand) -> None:
    contents: dict[str, bytes | None] = {
        f"documents/p{n % 40}/f{n}.md": b"x" * n for n in range(1000)
    }
    started = time.process_time()
    made = commit(hand, contents)
    assert made is not None
    assert commit(hand, dict.fromkeys(contents, b"y")) is not None
    assert commit(hand, dict.fromkeys(contents)) is not None
    assert time.process_time() - started < 10
    assert hand.held() == {}
