"""Documents in files: written when they say something else, gone when a platform has none."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from judgment.kit.errors import InvalidRequest, NotFound
from judgment.preferences.local.places import root_of
from judgment.preferences.local.versions import KEPT
from tests.unit.preferences.local.stores import NOW, Clock, opened, statement, states

pytestmark = pytest.mark.promise("P3-cli-files", "001-store-files")

OPENED: list[str] = []
LISTENING = [False]


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if LISTENING[0] and event == "open":
        OPENED.append(str(arguments[0]))


sys.addaudithook(_hear)  # cannot be taken off again, so it hears only while a test listens


@pytest.mark.promise("P3-cli-cold")
@pytest.mark.parametrize(
    ("platform", "name"),
    [(None, "compiled.json"), ("codex", "platforms/codex.json"), ("hermes", "compiled.json")],
)
def test_reading_a_document_opens_exactly_one_file(
    tmp_path: Path, platform: str | None, name: str
) -> None:
    store = opened(tmp_path)
    store.append([statement("a"), statement("b", scope="platform:codex")])
    store.compile()
    OPENED.clear()
    LISTENING[0] = True
    document = store.document(platform)
    LISTENING[0] = False
    assert [str(store.root / name)] == OPENED
    assert document is not None
    assert sorted(document["keys"]) == (["a", "b"] if platform == "codex" else ["a"])


def test_a_platform_without_overrides_reads_the_global_document(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert store.document("codex") is None
    store.append([statement("a")])
    store.compile()
    assert store.document("codex") == store.document()


@pytest.mark.promise("P3-defect-11")
@pytest.mark.parametrize("platform", ["", "../../x", "a/b", "A", ".", "x" * 41])
def test_a_platform_is_a_name_and_never_a_path(tmp_path: Path, platform: str) -> None:
    store = opened(tmp_path)
    with pytest.raises(InvalidRequest):
        store.document(platform)
    with pytest.raises(InvalidRequest):
        store.append([statement("a", scope=f"platform:{platform}")])


@pytest.mark.promise("P3-defect-21")
def test_nothing_is_written_when_nothing_has_changed_but_time(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path, clock)
    store.append([statement("a"), statement("b", scope="platform:codex")])
    first = store.compile()
    assert first.changed == ("compiled.json", "platforms/codex.json")
    before = states(store.root)
    clock.now = NOW + timedelta(days=1)
    again = store.compile()
    assert (again.changed, again.removed) == ((), ())
    assert again.unchanged == first.changed
    assert states(store.root) == before


@pytest.mark.promise("P3-defect-21")
def test_only_the_document_that_changes_is_written(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("a"), statement("b", scope="platform:codex")])
    store.compile()
    before = states(store.root)
    store.append([statement("b", 2, scope="platform:codex", observed_at="2026-06-02T00:00:00Z")])
    assert store.compile().changed == ("platforms/codex.json",)
    assert states(store.root)["compiled.json"] == before["compiled.json"]


@pytest.mark.promise("P3-defect-03")
def test_a_platforms_document_goes_with_its_last_override(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("answers", "short")])
    kept = store.append([statement("answers", "verbose", scope="platform:codex")])
    store.compile()
    platform = store.document("codex")
    assert platform is not None
    assert platform["keys"]["answers"]["value"] == "verbose"
    correction = statement(
        "answers", "brief", supersedes=kept[0].signal.id, observed_at="2026-06-09T00:00:00Z"
    )
    store.append([correction])
    outcome = store.compile()
    assert outcome.removed == ("platforms/codex.json",)
    assert not (store.root / "platforms" / "codex.json").exists()
    document = store.document("codex")
    assert document is not None
    assert document["keys"]["answers"]["value"] == "brief"


def test_a_document_that_was_edited_by_hand_is_written_anew(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("a", "mine")])
    store.compile()
    path = store.root / "compiled.json"
    path.write_text(path.read_text().replace("mine", "evil"))
    assert store.compile().changed == ("compiled.json",)
    assert "evil" not in path.read_text()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"v":1}', '{"v":1,"keys":[]}', "\x00\xff"])
def test_a_document_that_cannot_be_read_is_said_and_written_anew(tmp_path: Path, text: str) -> None:
    store = opened(tmp_path)
    store.append([statement("a")])
    store.compile()
    (store.root / "compiled.json").write_text(text)
    with pytest.raises(InvalidRequest, match=r"[Cc]ompile"):
        store.document()
    assert store.compile().changed == ("compiled.json",)
    assert store.document() is not None


def test_earlier_documents_are_kept_and_bounded(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path, clock)
    for n in range(KEPT + 5):
        clock.now = NOW + timedelta(minutes=n)
        store.append([statement("a", n, observed_at=f"2026-06-09T12:{n:02}:00Z")])
        store.compile()
    kept = store.versions()
    assert [version.number for version in kept] == list(range(5, KEPT + 5))
    assert store.version(5)["keys"]["a"]["value"] == 4
    assert store.version(24)["keys"]["a"]["value"] == 23
    with pytest.raises(NotFound):
        store.version(4)
    with pytest.raises(NotFound):
        store.version(1, "codex")


def test_the_folder_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/o")
    assert root_of({"JUDGMENT_PREFS_DIR": "/p", "XDG_DATA_HOME": "/d"}) == Path("/p")
    assert root_of({"JUDGMENT_PREFS_DIR": "~/p"}) == Path("/home/o/p")
    assert root_of({"XDG_DATA_HOME": "/d"}) == Path("/d/judgment/prefs")
    for ignored in ({}, {"XDG_DATA_HOME": "relative"}, {"JUDGMENT_PREFS_DIR": ""}):
        assert root_of(ignored) == Path("/home/o/.local/share/judgment/prefs")
