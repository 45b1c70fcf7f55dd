"""The lines that a memory travels in say on one end what they were given on the other."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest, TooLarge
from judgment.kit.hashing import sha256_hex
from judgment.memory.transfer import lines
from judgment.memory.transfer.lines import Blob, Committed, FileLine, Line, joined, parsed
from judgment.memory.transfer.staging import ordered
from tests.fakes.transfers import AT, commit_id, memory, raw

pytestmark = pytest.mark.promise("P4-memory-import", "002-29")

STORABLE = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
DIGESTS = st.binary(max_size=3).map(sha256_hex)
TIMES = st.integers(-62_000_000_000, 253_000_000_000).map(
    lambda at: datetime.fromtimestamp(at, UTC)
)
COMMITS = st.builds(
    Committed,
    id=st.integers(0, 5).map(commit_id),
    author=STORABLE,
    message=STORABLE,
    at=TIMES,
    changes=st.dictionaries(STORABLE, st.none() | DIGESTS, max_size=5),
)


def _read(text: list[str]) -> list[Line]:
    return list(joined(parsed(line.encode()) for line in text))


@given(COMMITS, STORABLE, DIGESTS, st.binary(max_size=100))
def test_each_line_is_read_as_it_was_written(
    commit: Committed, path: str, sha256: str, content: bytes
) -> None:
    written = [
        lines.head_line(commit.at),
        *lines.blob_lines(sha256_hex(content), content),
        *lines.commit_lines(commit),
        lines.file_line(path, sha256),
        lines.end_line(),
    ]
    assert all("\n" not in line for line in written)
    assert _read(written) == [
        lines.Head(commit.at),
        Blob(sha256_hex(content), content),
        commit,
        FileLine(path, sha256),
        lines.End(),
    ]


@given(st.integers(0, 3), st.sampled_from([-1, 0, 1]))
def test_a_large_content_comes_in_pieces_and_is_one_again(count: int, more: int) -> None:
    content = b"ab" * (count * lines.PIECE_BYTES // 2) + b"x" * (more + 1)
    sha256 = sha256_hex(content)
    written = list(lines.blob_lines(sha256, content))
    assert len(written) == lines.pieces(len(content))
    assert max(map(len, written)) < lines.LINE_BYTES // 2
    assert _read(written) == [Blob(sha256, content)]


def test_a_commit_of_many_changes_comes_in_portions_and_is_one_again() -> None:
    changes = {f"{number:05}/" + "p" * 200: None for number in range(9_000)}
    commit = Committed(commit_id(1), "A", "m", AT, changes)
    written = list(lines.commit_lines(commit))
    assert len(written) > 3
    assert max(map(len, written)) < lines.LINE_BYTES // 2
    assert _read(written) == [commit]


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
@example(b"[" * 100_000)
@example(b'{"type":[]}')
@example(b'{"type":"end","at":1}')
@example(
    raw(
        type="commit",
        id="0" * 40,
        author="\ud800",
        message="",
        at="2026-01-01T00:00:00Z",
        changes={},
    ).encode()
)
@example(raw(type="memory", at="0001-01-01T00:00:00+14:00").encode())
@example(raw(type="memory", at="2026-01-01T00:00:00").encode())
@example(raw(type="file", path="a\0", sha256="0" * 64).encode())
@example(raw(type="file", path="a", sha256="0" * 63 + "G").encode())
@example(raw(type="blob", sha256="0" * 64, data="not base64!").encode())
@example(
    raw(
        type="commit",
        id="0" * 40,
        author="",
        message="",
        at="2026-01-01T00:00:00Z",
        changes={"a": 1},
    ).encode()
)
def test_anything_else_is_refused_and_not_quoted(line: bytes) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parsed(line)
    assert refused.value.message == "A line is not one of a memory's."


def test_what_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(TooLarge):
        parsed(b" " * (lines.LINE_BYTES + 1))
    piece = parsed(next(lines.blob_lines("0" * 64, b"x" * lines.PIECE_BYTES)).encode())
    with pytest.raises(TooLarge):
        list(joined([piece] * 17))


def test_a_content_that_is_another_is_refused_or_where_it_may_be_torn_left_out() -> None:
    other = Blob(sha256_hex(b"x"), b"y")
    with pytest.raises(InvalidRequest):
        list(joined([other]))
    assert list(joined([other, lines.End()], torn=True)) == [lines.End()]


GOOD = memory({"a": b"1", "b": b"2"}, ("one", {"a": b"0"}), ("two", {"a": b"1"}))


@given(st.permutations(range(len(GOOD))), st.integers(0, len(GOOD)))
@example(list(range(len(GOOD))), len(GOOD))
def test_only_lines_in_their_order_are_an_import(places: list[int], count: int) -> None:
    kinds = [json.loads(GOOD[place])["type"] for place in places[:count]]
    told = [kind for kind in kinds if kind != "blob"]
    ranks = [("memory", "commit", "file", "end").index(kind) for kind in told]
    is_whole = told[:1] == ["memory"] and told[-1:] == ["end"] and ranks == sorted(ranks)
    is_whole = is_whole and kinds[0] == "memory" and kinds[-1] == "end"
    given_lines = [parsed(GOOD[place].encode()) for place in places[:count]]
    if is_whole:
        assert list(ordered(given_lines)) == given_lines
    else:
        with pytest.raises(InvalidRequest):
            list(ordered(given_lines))
