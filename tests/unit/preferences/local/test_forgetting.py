"""Forgetting a key in files: nothing of it is left in the folder but what is said."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgment.preferences.disclosure import Wanted, disclose
from judgment.preferences.model import InvalidSignal
from tests.unit.preferences.local.stores import NOW, Clock, lines, opened, statement

if TYPE_CHECKING:
    from judgment.preferences.local.store import LocalStore

pytestmark = pytest.mark.promise("P3-cli-files")
SECRET = "what was whispered"


def filled(folder: Path, clock: Clock, key: str = "health.sleep") -> LocalStore:
    """A store in which a key was said three times, compiled each time, and shown once."""
    store = opened(folder, clock)
    for day in (1, 2, 3):
        clock.now = NOW + timedelta(days=day)
        at = f"2026-06-0{day}T00:00:00Z"
        store.append(
            [
                statement("kept", day, observed_at=at),
                statement(key, f"{SECRET} {day}", observed_at=at),
                statement(key, f"{SECRET} there", scope="platform:codex", observed_at=at),
            ]
        )
        store.compile()
    store.decide({"effect": "allow", "key_glob": "*", "audience": "bob"})
    disclose(store, Wanted("bob"), clock.now)
    return store


def mentions(root: Path, text: str) -> list[str]:
    """The files below a folder in which a text stands."""
    found = (p for p in root.rglob("*") if p.is_file() and text.encode() in p.read_bytes())
    return sorted(p.relative_to(root).as_posix() for p in found)


@pytest.mark.parametrize("key", ["health.sleep", "caf\u00e9.secret", 'a"quoted\\key'])
def test_no_value_of_a_forgotten_key_is_left_anywhere(tmp_path: Path, key: str) -> None:
    store = filled(tmp_path, Clock(), key)
    assert len(mentions(store.root, SECRET)) > 3
    found = store.forget(key)
    assert mentions(store.root, SECRET) == []
    assert (found.key, found.signals, found.ledger, found.waiting) == (key, 6, 1, ())
    assert found.versions >= 4
    document = store.document()
    assert document is not None
    assert list(document["keys"]) == ["kept"]
    assert not (store.root / "platforms" / "codex.json").exists()


def test_what_remains_is_said_and_is_a_name_in_the_ledger(tmp_path: Path) -> None:
    store = filled(tmp_path, Clock())
    for name in ("outbox", "candidates/codex"):
        (store.root / name).mkdir(parents=True)
        (store.root / name / "one.json").write_text('{"key":"health.sleep"}')
        (store.root / name / "two.json").write_text('{"key":"kept"}')
    found = store.forget("health.sleep")
    assert found.waiting == ("outbox/one.json", "candidates/codex/one.json")
    assert mentions(store.root, "health.sleep") == ["candidates/codex/one.json",
                                                    "ledger.jsonl", "outbox/one.json"]  # fmt: skip
    assert store.verify().intact


def test_positions_that_were_forgotten_are_not_given_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("kept"), statement("gone", 1), statement("gone", 2)])
    store.forget("gone")
    assert store.append([statement("new")])[0].signal.position == 4
    assert [s.position for s in store.signals()[0]] == [1, 4]


def test_other_spellings_of_a_key_go_with_it_and_other_keys_stay(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("cafe\u0301", 1), statement("caf\u00e9", 2), statement("caf\u00e9.x")])
    assert store.forget("cafe\u0301").signals == 2
    assert [s.key for s in store.signals()[0]] == ["caf\u00e9.x"]


def test_an_unreadable_line_that_names_the_key_goes_and_another_stays(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("kept")])
    with (store.root / "signals.jsonl").open("a") as file:
        file.write('{"key":"gone","value":"broken\n{"key":"other","value":"broken\n')
    assert store.forget("gone").signals == 1
    assert [bad.position for bad in store.signals()[1]] == [2]


@pytest.mark.parametrize(
    "spelt", ["caf\u00e9", "cafe\u0301", "caf\\u00e9", "cafe\\u0301", "caf\\u00E9"]
)
@pytest.mark.parametrize("form", ['{"v":2,"key":"%s","value":1}', '{"key":"%s","value":"broken'])
def test_an_unreadable_line_goes_however_the_key_is_spelt_in_it(
    tmp_path: Path, spelt: str, form: str
) -> None:
    store = opened(tmp_path)
    store.append([statement("kept")])
    with (store.root / "signals.jsonl").open("a") as file:
        file.write(form % spelt + "\n")
    (store.root / "outbox").mkdir()
    (store.root / "outbox" / "one.json").write_text(form % spelt)
    found = store.forget("cafe\u0301")
    assert (found.signals, found.waiting) == (1, ("outbox/one.json",))
    assert store.signals()[1] == []


def test_a_key_beyond_the_basic_plane_is_found_in_its_escaped_form(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("mood.\U0001f600", "\U0001f600")])
    with (store.root / "signals.jsonl").open("a") as file:
        file.write(
            '{"key":"mood.\\ud83d\\ude00","value":"broken\n{"key":"\\ud83d","value":"broken\n'
        )
    assert store.forget("mood.\U0001f600").signals == 2
    assert [bad.position for bad in store.signals()[1]] == [1]


def test_a_line_of_a_later_version_stays_unless_it_is_about_that_very_key(tmp_path: Path) -> None:
    """Short names occur in every line: `a` in `data`, `v` as a field's name."""
    store = opened(tmp_path)
    store.append([statement("a"), statement("v")])
    later = '{"key":"data.v","value":{"v":"a"},"v":2}\n'
    with (store.root / "signals.jsonl").open("a") as file:
        file.write(later)
    for key in ("a", "v", "data", "value"):
        store.forget(key)
    assert (store.root / "signals.jsonl").read_text() == later
    assert store.forget("data.v").signals == 1


def test_a_version_that_cannot_be_read_and_names_the_key_goes(tmp_path: Path) -> None:
    store = filled(tmp_path, Clock())
    path = store.versions()[0].path
    path.write_text(f'{{"health.sleep":"{SECRET}')
    store.forget("health.sleep")
    assert not path.exists()


@pytest.mark.parametrize("spoilt", ['"\\ud800"', "NaN", "[" * 400 + "]" * 400])
def test_a_version_that_cannot_be_written_again_goes_whole(tmp_path: Path, spoilt: str) -> None:
    store = filled(tmp_path, Clock())
    path = store.versions()[0].path
    assert "health.sleep" in path.read_text()
    path.write_text(path.read_text().replace('"platform":null', f'"platform":{spoilt}'))
    store.forget("health.sleep")
    assert mentions(store.root, SECRET) == []


@pytest.mark.parametrize(
    "entry", ["", "not JSON", "[1]", "null", '{"keys":5}', '{"keys":"health.sleep"}', "\\ud800"]
)
def test_a_ledger_that_was_tampered_with_does_not_stop_a_forgetting(
    tmp_path: Path, entry: str
) -> None:
    store = filled(tmp_path, Clock())
    [link] = lines(store.root / "ledger.jsonl")
    text = json.dumps({**link, "entry": "ENTRY"}).replace("ENTRY", entry.replace('"', '\\"'))
    (store.root / "ledger.jsonl").write_text(text + "\n")
    found = store.forget("health.sleep")
    assert (found.signals, found.ledger) == (6, 0)
    assert mentions(store.root, SECRET) == []
    assert not store.verify().intact


def test_versions_that_were_changed_still_read_and_compile_settles(tmp_path: Path) -> None:
    store = filled(tmp_path, Clock())
    store.forget("health.sleep")
    for version in store.versions():
        assert "health.sleep" not in store.version(version.number)["keys"]
    assert store.compile().changed == ()


def test_forgetting_again_or_what_was_never_said_finds_nothing(tmp_path: Path) -> None:
    store = filled(tmp_path, Clock())
    store.forget("health.sleep")
    assert store.forget("health.sleep").signals == 0
    assert store.forget("never.said").ledger == 0
    with pytest.raises(InvalidSignal):
        store.forget("health.*")
    assert "forgetting" not in store.meta()
