"""Documents are files of the account, written when they say something new and not otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.preferences.compiling import compile_signals, encoded
from tests.fakes.fulcra_server import Trouble
from tests.unit.preferences.fulcra.hosts import NOW, Desk

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.preferences.model import Signal
    from tests.fakes.fulcra_server import FulcraServer

pytestmark = pytest.mark.promise("P3-fulcra")
Make = Callable[..., "Signal"]


def documents(signals: list[Signal], now: datetime = NOW) -> dict[str, str]:
    """The files that a compilation makes."""
    made = compile_signals(signals, now).documents
    return {
        "compiled.json" if platform is None else f"platforms/{platform}.json": encoded(document)
        for platform, document in made.items()
    }


def uploads(server: FulcraServer) -> int:
    return server.count("POST", "/signed/")


def test_documents_are_kept_by_absolute_paths_and_come_back_as_they_were(
    desk: Desk, server: FulcraServer, signal: Make
) -> None:
    files = documents([signal("a.b"), signal("a.b", scope="platform:codex", value="“é”")])
    published = desk.store().publish(files)
    assert published.written == ("compiled.json", "platforms/codex.json")
    paths = {(kept["path"], kept["name"]) for kept in server.account.files}
    assert paths == {("/prefs", "compiled.json"), ("/prefs/platforms", "codex.json")}
    assert {path: desk.store().fetch(path) for path in files} == files
    assert {kept["content_type"] for kept in server.account.files} == {"application/json"}


@pytest.mark.promise("P3-defect-21")
def test_what_has_not_changed_is_not_written_again(
    desk: Desk, server: FulcraServer, signal: Make
) -> None:
    files = documents([signal("a.b")])
    store = desk.store()
    store.publish(files)
    before = uploads(server)
    assert store.publish(files).unchanged == ("compiled.json",)
    assert uploads(server) == before


@pytest.mark.promise("P3-defect-21")
def test_the_same_signals_compiled_later_by_another_host_are_no_change(
    hosts: Callable[..., Desk], server: FulcraServer, signal: Make
) -> None:
    from datetime import timedelta

    said = [signal("a.b", half_life_days=1)]
    early, late = documents(said), documents(said, NOW + timedelta(days=3))
    assert early != late
    hosts("laptop").store().publish(early)
    assert hosts("desktop").store().publish(late).written == ()
    assert uploads(server) == 1


def test_a_change_is_a_new_version_and_the_earlier_ones_stay(desk: Desk, signal: Make) -> None:
    store = desk.store()
    texts = [documents([signal("a.b", value=number)])["compiled.json"] for number in range(3)]
    for text in texts:
        store.publish({"compiled.json": text})
    versions = store.versions("compiled.json")
    assert [version.current for version in versions] == [True, False, False]
    assert [store.fetch_version(version.id) for version in versions] == texts[::-1]
    assert [version.size for version in versions] == [len(text.encode()) for text in texts[::-1]]
    assert store.versions("platforms/codex.json") == []


@pytest.mark.promise("P3-defect-03")
def test_the_document_of_a_platform_that_has_none_left_is_taken_away(
    desk: Desk, server: FulcraServer, signal: Make
) -> None:
    store = desk.store()
    common = signal("a.b")
    store.publish(documents([common, signal("a.b", scope="platform:codex", value="old")]))
    server.account.store("/prefs/platforms", "notes.json", "application/json", b'{"mine": 1}')
    published = store.publish(documents([common]))
    assert published.removed == ("platforms/codex.json",)
    assert store.fetch("platforms/codex.json") is None
    assert store.fetch("platforms/notes.json") == '{"mine": 1}'
    assert store.publish(documents([common])).removed == ()


@pytest.mark.parametrize(
    "path", ["../x.json", "/compiled.json", "a//b", "", "platforms/../x", "A.json", "x\n.json"]
)
def test_a_path_that_is_not_plain_is_refused_before_anything_is_sent(
    desk: Desk, server: FulcraServer, path: str
) -> None:
    with pytest.raises(InvalidRequest, match="Not a path"):
        desk.store().publish({"compiled.json": "{}", path: "{}"})
    assert server.asked == []


@pytest.mark.parametrize(
    "trouble",
    [
        {"path": "/input/v1/file_upload", "status": 500},
        {"path": "/input/v1/file_upload", "status": 422, "method": "POST"},
        {"path": "/input/v1/file_upload", "status": 200, "body": "<html>"},
        {"path": "/input/v1/file_upload", "status": 200, "body": '{"files": [1]}'},
        {"path": "/input/v1/file_upload", "status": 200, "body": '{"files": [{"name": "x"}]}'},
        {"path": "/input/v1/file_upload", "status": 201, "body": "{}", "method": "POST"},
        {"path": "/signed/", "status": 403},
        {"path": "/signed/"},
    ],
)
def test_an_upload_that_fails_at_any_step_is_an_error_and_leaves_what_was_there(
    desk: Desk, server: FulcraServer, signal: Make, trouble: dict[str, Any]
) -> None:
    store = desk.store()
    before, after = (documents([signal("a.b", value=number)]) for number in range(2))
    store.publish(before)
    server.trouble.append(Trouble(**trouble))
    with pytest.raises(Unavailable):
        store.publish(after)
    server.trouble.clear()
    assert store.fetch("compiled.json") == before["compiled.json"]
    assert store.publish(after).written == ("compiled.json",)


def test_a_file_that_is_no_document_of_ours_is_written_over_and_stays_as_a_version(
    desk: Desk, server: FulcraServer, signal: Make
) -> None:
    theirs = json.dumps({"v": 1, "keys": {}, "compiled_at": "2026-06-10"})
    server.account.store("/prefs", "compiled.json", "application/json", theirs.encode())
    store = desk.store()
    store.publish(documents([signal("a.b")]))
    newest, older = store.versions("compiled.json")
    assert store.fetch_version(older.id) == theirs
    assert newest.current


def test_a_folder_that_is_not_absolute_is_refused(hosts: Callable[..., Desk]) -> None:
    with pytest.raises(InvalidRequest, match="absolute"):
        hosts("laptop", folder="prefs").store()
