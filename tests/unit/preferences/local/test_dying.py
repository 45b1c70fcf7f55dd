"""A process killed at any place of any write leaves a store that reads, and that the next mends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judgment.preferences.disclosure import Wanted, disclose
from judgment.preferences.documents import view
from judgment.preferences.local.checking import examine
from judgment.preferences.local.store import LocalStore
from tests.architecture.source import ROOT
from tests.unit.preferences.local.dying_child import ACTIONS, POINTS
from tests.unit.preferences.local.stores import NOW, Clock, opened, statement

pytestmark = pytest.mark.promise("P3-cli-files", "P3-refuse")
SECRET = "the secret value"

REACHED = {
    "capture": {"files.half_appended", "files.appended"},
    "compile": {
        "files.written", "files.replaced", "compile.put", "compile.removed", "compile.published",
    },
    "decide": {
        "files.half_appended", "files.appended", "consent.appended", "files.written",
        "files.replaced",
    },
    "disclose": {
        "files.half_appended", "files.appended", "ledger.announced", "ledger.appended",
        "files.written", "files.replaced",
    },
    "forget": {
        "files.written", "files.replaced", "forget.announced", "forget.rewritten",
        "forget.published", "forget.scrubbed", "compile.put", "compile.published",
        "compile.removed",
    },
}  # fmt: skip
"""The kill points that lie on the way of each action."""


def filled(folder: Path) -> LocalStore:
    """A store with documents, versions, consent, a ledger, and something yet to be compiled."""
    store = opened(folder)
    kept = store.append(
        [
            statement("food", "thai"),
            statement("hidden", 1),
            statement("secret.thing", SECRET),
            statement("answers", "verbose", scope="platform:codex"),
        ]
    )
    store.compile()
    store.decide({"effect": "allow", "key_glob": "*", "audience": "bob", "level": "solve"})
    store.decide({"effect": "deny", "key_glob": "hidden", "audience": "*"})
    disclose(store, Wanted("bob"), NOW)
    later = {"observed_at": "2026-06-09T00:00:00Z"}
    store.append(
        [
            statement("food", "korean", **later),
            statement("secret.thing", f"{SECRET} again", **later),
            statement("answers", "brief", supersedes=kept[3].signal.id, **later),
        ]
    )
    return store


@pytest.fixture(scope="module", params=sorted(ACTIONS))
def died(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, LocalStore, dict[str, LocalStore]]:
    """The action, the store before it, and the stores that its deaths have left, by place."""
    folder = tmp_path_factory.mktemp(request.param)
    before = filled(folder)
    copies = folder / "copies"
    copies.mkdir()
    command = [sys.executable, "-m", "tests.unit.preferences.local.dying_child"]
    done = subprocess.run(
        [*command, str(before.root), str(copies), request.param],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    assert {p for p in POINTS if found[p] == "killed"} == REACHED[request.param]
    assert sum(what == "killed" for name, what in found.items() if name.startswith("op")) > 3
    return (
        request.param,
        before,
        {
            name: LocalStore(copies / name, Clock())
            for name, what in found.items()
            if what == "killed"
        },
    )


Died = tuple[str, LocalStore, dict[str, LocalStore]]


def test_what_was_kept_before_is_read_whole_after_a_death(died: Died) -> None:
    action, before, left = died
    kept = [s for s in before.signals()[0] if action != "forget" or s.key != "secret.thing"]
    for place, store in left.items():
        signals, bad = store.signals()
        assert bad == [], place
        assert [s for s in signals if s in kept] == kept, place
        for platform in (None, "codex"):
            document = store.document(platform)
            assert document is not None, place
            assert view(document, NOW), place
        assert store.grants().events[:2] == before.grants().events, place
        assert store.verify().intact, place


def test_the_next_one_mends_it_and_comes_to_the_same_end(died: Died) -> None:
    action, before, left = died
    ACTIONS[action](before)
    before.compile()
    for place, store in left.items():
        ACTIONS[action](store)
        store.compile()
        signals, _ = store.signals()
        assert signals == before.signals()[0], place
        assert [s.position for s in signals] == sorted({s.position for s in signals}), place
        for platform in (None, "codex"):
            assert store.document(platform) == before.document(platform), place
        assert list(store.root.rglob("*.part")) == [], place
        assert [f for f in examine(store.root, NOW) if f.state == "broken"] == [], place


def test_what_was_shown_or_decided_stands_once_more_at_most(died: Died) -> None:
    """Who repeats an unanswered disclosure or step may have it written twice, never not at all."""
    action, before, left = died
    for place, store in left.items():
        more = len(store.ledger()) - len(before.ledger())
        assert more in ((0, 1, 2) if action == "disclose" else (0,)), place
        steps = len(store.grants().events) - len(before.grants().events)
        assert steps in ((0, 1) if action == "decide" else (0,)), place


def test_a_forgetting_that_has_begun_is_finished_by_whatever_writes_next(
    tmp_path: Path, died: Died
) -> None:
    action, _, left = died
    if action != "forget":
        assert all("forgetting" not in store.meta() for store in left.values())
        return
    for place, store in left.items():
        begun = store.meta().get("forgetting") == "secret.thing"
        gone: dict[str, Any] = {s.key: s for s in store.signals()[0]}
        store.append([statement("unrelated", place)])
        if begun or "secret.thing" not in gone:
            texts = {p: p.read_bytes() for p in store.root.rglob("*") if p.is_file()}
            assert [p for p, text in texts.items() if SECRET.encode() in text] == [], place
