"""The choke: consent first, the ledger second, the answer last, and no more than was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.preferences.compiling import compile_signals
from judgment.preferences.consent import Event as Step
from judgment.preferences.consent import stored as kept_step
from judgment.preferences.disclosure import Disclosed, Shelf, Wanted, disclose
from judgment.preferences.grants import Grants, fold
from judgment.preferences.local.store import LocalStore
from judgment.preferences.signals import signal_from
from tests.unit.preferences.histories import AUDIENCES, NOW, PURPOSES, histories

if TYPE_CHECKING:
    from judgment.preferences.ledger import Event

pytestmark = pytest.mark.promise("P3-ledger", "P3-consent-choke")
KEYS = ("dining.thai", "dining.thai.x", "Dining.thai", "diningsecret.x", "x")


def payload(key: str, **more: Any) -> dict[str, Any]:
    """A captured statement whose provenance would be noticed if it leaked."""
    source = {"platform": "codex", "agent": "agent-secret", "session": "session-secret"}
    return {"key": key, "value": f"value of {key}", "strength": 0.8, "source": source, **more}


class MemoryShelf:
    """A shelf that remembers in which order it was asked."""

    def __init__(self, history: Sequence[object], broken: bool = False) -> None:
        self.asked: list[str] = []
        self.events: list[Event] = []
        self._history, self._broken = history, broken
        signals = [signal_from(payload(key), received_at=NOW) for key in KEYS]
        self._documents = compile_signals(signals, NOW).documents

    def hold(self) -> nullcontext[None]:
        """See `Shelf`."""
        self.asked.append("hold")
        return nullcontext()

    def grants(self) -> Grants:
        """See `Shelf`."""
        self.asked.append("grants")
        return fold(self._history)

    def document(self, platform: str | None = None) -> Mapping[str, Any] | None:
        """See `Shelf`."""
        self.asked.append("document")
        return self._documents.get(platform, self._documents[None])

    def record(self, events: Sequence[Event]) -> None:
        """See `Shelf`; a broken one writes nothing down."""
        self.asked.append("record")
        if self._broken:
            raise Unavailable("The ledger cannot be written.")
        self.events += events


class FilledStore(LocalStore):
    """The real shelf, with the same statements and history."""

    def __init__(self, root: Path, history: Sequence[object]) -> None:
        super().__init__(root, lambda: NOW)
        self.append([payload(key) for key in KEYS])
        self.compile()
        lines = [kept_step(s) if isinstance(s, Step) else s for s in history]
        (root / "consent.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    @property
    def events(self) -> list[dict[str, Any]]:
        """The ledger's entries."""
        return [json.loads(link.entry) for link in self.ledger()]


@pytest.fixture(params=["memory", "files"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Sequence[object]], Any]:
    """Makes a shelf with a history of consent: a fake and the real one behave alike."""
    if request.param == "memory":
        return MemoryShelf
    return lambda history: FilledStore(tmp_path / "prefs", history)


def noted(shelf: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    """Kind, audience and keys of each ledger entry."""
    events = [e if isinstance(e, dict) else vars_of(e) for e in shelf.events]
    return [(e["kind"], e["audience"], tuple(sorted(e["keys"]))) for e in events]


def vars_of(event: Event) -> dict[str, Any]:
    """The fields of an event."""
    return {name: getattr(event, name) for name in ("kind", "audience", "keys")}


@pytest.mark.promise("P3-defect-19")
def test_an_audience_sees_what_is_open_to_it_and_nothing_of_where_it_comes_from(
    shelf: Callable[[Sequence[object]], Any],
) -> None:
    kept = shelf([Step("allow", "dining.*", "bob")])
    found = disclose(kept, Wanted("bob"), NOW)
    assert set(found.entries) == {"dining.thai", "dining.thai.x"}
    assert found.entries["dining.thai"] == {
        "value": "value of dining.thai",
        "weight": 0.8,
        "confidence": 1.0,
        "kind": "preference",
    }
    assert noted(kept) == [("disclosure", "bob", ("dining.thai", "dining.thai.x"))]


@pytest.mark.promise("P3-defect-19")
@given(histories, st.sampled_from(AUDIENCES), st.sampled_from(PURPOSES))
@example([Step("allow", "dining.*", "bob")], "bob", "read")
@example([Step("allow", "*", "bob", "solve")], "bob", "solve")
def test_a_disclosure_never_carries_provenance_or_a_key_that_is_not_open(
    history: list[object], audience: str, purpose: str
) -> None:
    kept = MemoryShelf(history)
    found = disclose(kept, Wanted(audience, purpose), NOW)
    assert set(found.entries) == fold(history).open_keys(KEYS, audience, purpose, NOW)
    for entry in found.entries.values():
        assert entry.keys() <= {"value", "weight", "confidence", "kind", "stale"}
    assert "secret" not in repr(found.entries).replace("diningsecret", "")


@pytest.mark.promise("P3-defect-06")
@given(histories, st.sampled_from(AUDIENCES), st.one_of(st.none(), st.lists(st.sampled_from(KEYS))))
def test_every_read_leaves_a_ledger_line_that_says_what_was_shown_and_refused(
    history: list[object], audience: str, keys: list[str] | None
) -> None:
    kept = MemoryShelf(history)
    wanted = Wanted(audience, keys=None if keys is None else tuple(keys), by="h", correlation="r")
    found = disclose(kept, wanted, NOW)
    shown = [e.keys for e in kept.events if e.kind == "disclosure"]
    refused = [e.keys for e in kept.events if e.kind == "denial"]
    assert kept.events
    assert all(
        (e.audience, e.at, e.by, e.correlation) == (audience, NOW, "h", "r") for e in kept.events
    )
    assert {key for keys in shown for key in keys} == set(found.entries)
    assert {key for keys in refused for key in keys} == set(found.denied)
    assert kept.asked.index("record") > kept.asked.index("grants")


@pytest.mark.promise("P3-defect-06")
def test_a_denied_read_is_written_down(shelf: Callable[[Sequence[object]], Any]) -> None:
    kept = shelf([])
    assert disclose(kept, Wanted("bob"), NOW) == Disclosed({}, ())
    assert disclose(kept, Wanted("bob", keys=("x",)), NOW) == Disclosed({}, ("x",))
    assert noted(kept) == [("denial", "bob", ()), ("denial", "bob", ("x",))]


@pytest.mark.promise("P3-defect-06")
def test_what_cannot_be_written_down_is_not_shown() -> None:
    kept = MemoryShelf([Step("allow", "*", "bob")], broken=True)
    with pytest.raises(Unavailable):
        disclose(kept, Wanted("bob"), NOW)
    assert kept.asked[-1] == "record"


@pytest.mark.promise("P3-defect-06")
def test_a_ledger_whose_file_cannot_be_written_refuses_the_read(tmp_path: Path) -> None:
    kept = FilledStore(tmp_path / "prefs", [Step("allow", "*", "bob")])
    disclose(kept, Wanted("bob"), NOW)
    (kept.root / "ledger.jsonl").rename(kept.root / "elsewhere")
    (kept.root / "ledger.jsonl").mkdir()
    with pytest.raises(Unavailable, match=r"ledger\.jsonl"):
        disclose(kept, Wanted("bob"), NOW)


@pytest.mark.promise("P3-defect-06")
def test_a_missing_meta_file_refuses_the_read_and_does_not_show_unlogged(tmp_path: Path) -> None:
    kept = FilledStore(tmp_path / "prefs", [Step("allow", "*", "bob")])
    disclose(kept, Wanted("bob"), NOW)
    (kept.root / "meta.json").unlink()
    with pytest.raises(Unavailable, match="verify"):
        disclose(kept, Wanted("bob"), NOW)
    assert len(kept.ledger()) == 1


def test_only_the_keys_that_were_asked_for_are_shown(
    shelf: Callable[[Sequence[object]], Any],
) -> None:
    kept = shelf([Step("allow", "*", "bob"), Step("deny", "x", "bob")])
    found = disclose(kept, Wanted("bob", keys=("dining.thai", "x", "not.there")), NOW)
    assert (set(found.entries), found.denied) == ({"dining.thai"}, ("x",))
    assert noted(kept) == [("denial", "bob", ("x",)), ("disclosure", "bob", ("dining.thai",))]


def test_a_key_that_is_not_open_answers_alike_whether_it_exists_or_not() -> None:
    kept = MemoryShelf([Step("allow", "dining.*", "bob")])
    there = disclose(kept, Wanted("bob", keys=("x",)), NOW)
    absent = disclose(kept, Wanted("bob", keys=("y",)), NOW)
    assert (there.entries, there.denied) == ({}, ("x",))
    assert (absent.entries, absent.denied) == ({}, ("y",))


def test_the_level_of_the_purpose_is_enforced() -> None:
    kept = MemoryShelf([Step("allow", "*", "bob", "read")])
    assert disclose(kept, Wanted("bob", "read"), NOW).entries
    assert not disclose(kept, Wanted("bob", "solve"), NOW).entries


@pytest.mark.promise("R-16")
def test_the_owner_needs_no_grant_and_is_written_down_all_the_same() -> None:
    kept = MemoryShelf([Step("deny", "*", "*")])
    assert set(disclose(kept, Wanted("self"), NOW).entries) == set(KEYS)
    assert [e.kind for e in kept.events] == ["disclosure"]


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("*"), Wanted(""), Wanted("bob", "write"), Wanted("bob", keys=("a..b",)),
        Wanted("bob", keys=("*",)),
    ],
)  # fmt: skip
def test_what_is_no_audience_purpose_or_key_is_refused(wanted: Wanted) -> None:
    kept = MemoryShelf([Step("allow", "*", "bob")])
    with pytest.raises(InvalidRequest):
        disclose(kept, wanted, NOW)
    assert kept.events == []


def test_a_store_before_its_first_compile_has_nothing_to_show(tmp_path: Path) -> None:
    kept: Shelf = LocalStore(tmp_path / "prefs", lambda: datetime(2026, 6, 10, tzinfo=UTC))
    assert disclose(kept, Wanted("bob"), NOW) == Disclosed({}, ())
