"""Consent and the ledger in files: a history that is kept, and a chain that tells."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.preferences.disclosure import Wanted, disclose
from judgment.preferences.local.checking import examine
from tests.unit.preferences.local.stores import NOW, Clock, lines, opened, statement, states

if TYPE_CHECKING:
    from judgment.preferences.local.store import LocalStore


def shown(folder: Path, reads: int) -> LocalStore:
    """A store from which bob has read so many times."""
    store = opened(folder)
    store.append([statement("food.thai"), statement("food.korean"), statement("secret")])
    store.compile()
    store.decide({"effect": "allow", "key_glob": "food.*", "audience": "bob"})
    for n in range(reads):
        disclose(store, Wanted("bob", correlation=f"r{n}"), NOW)
    return store


@pytest.mark.promise("P3-consent")
def test_steps_are_kept_in_order_and_their_sum_stands_beside_them(tmp_path: Path) -> None:
    store = shown(tmp_path, 0)
    step = store.decide({"effect": "revoke", "key_glob": "food.thai", "audience": "bob"})
    assert [event.key_glob for event in step.touched] == ["food.*"]
    kept = lines(store.root / "consent.jsonl")
    assert [(k["position"], k["effect"]) for k in kept] == [(1, "allow"), (2, "revoke")]
    assert len({k["id"] for k in kept}) == 2
    summed = json.loads((store.root / "consent.json").read_text())
    assert (summed["steps"], summed["grants"], summed["denials"]) == (2, [], [])
    assert [(g["key_glob"], g["except"]) for g in summed["narrowed"]] == [
        ("food.*", [{"key_glob": "food.thai", "level": "read"}])
    ]
    assert set(disclose(store, Wanted("bob"), NOW).entries) == {"food.korean"}


@pytest.mark.promise("P3-defect-08")
def test_a_revoke_that_takes_nothing_back_says_so(tmp_path: Path) -> None:
    store = shown(tmp_path, 0)
    revoke = {"effect": "revoke", "key_glob": "other.*", "audience": "bob"}
    assert store.decide(revoke).touched == ()


@pytest.mark.promise("P3-defect-07")
def test_a_step_that_is_refused_leaves_no_trace(tmp_path: Path) -> None:
    store = shown(tmp_path, 0)
    before = states(store.root)
    step = {"effect": "allow", "key_glob": "*", "audience": "bob", "expires": "soon"}
    with pytest.raises(InvalidRequest, match="expiry"):
        store.decide(step)
    assert states(store.root) == before


@pytest.mark.promise("P3-consent")
@pytest.mark.parametrize("line", ["{", "null", '{"effect":"grant"}', '"x"'])
def test_a_damaged_line_of_the_history_closes_everything(tmp_path: Path, line: str) -> None:
    store = shown(tmp_path, 0)
    with (store.root / "consent.jsonl").open("a") as file:
        file.write(line + "\n")
    assert disclose(store, Wanted("bob"), NOW).entries == {}
    step = store.decide({"effect": "allow", "key_glob": "food.*", "audience": "bob"})
    assert step.event.position == 3
    assert disclose(store, Wanted("bob"), NOW).entries


@pytest.mark.promise("P3-consent")
def test_the_sum_follows_when_a_grant_expires(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path, clock)
    soon = (NOW + timedelta(hours=1)).isoformat()
    store.decide({"effect": "allow", "key_glob": "*", "audience": "bob", "expires": soon})
    clock.now = NOW + timedelta(hours=2)
    store.compile()
    assert json.loads((store.root / "consent.json").read_text())["grants"] == []


@pytest.mark.promise("P3-ledger-chain")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_change_of_any_byte_of_the_ledger_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    store = shown(tmp_path_factory.mktemp("touched"), 3)
    path = store.root / "ledger.jsonl"
    kept = path.read_bytes()
    assert store.verify().intact
    place = data.draw(st.integers(0, len(kept) - 2))  # the last byte is the line feed
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != kept[place]))
    path.write_bytes(kept[:place] + bytes([byte]) + kept[place + 1 :])
    assert not store.verify().intact


@pytest.mark.promise("P3-ledger-chain")
@pytest.mark.parametrize("order", ["01", "12", "02", "0", "", "102", "0122", "012x"])
def test_a_line_missing_moved_doubled_or_added_is_found(tmp_path: Path, order: str) -> None:
    store = shown(tmp_path, 3)
    path = store.root / "ledger.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(b"{}\n" if n == "x" else kept[int(n)] for n in order))
    found = store.verify()
    assert not found.intact
    assert found.problems


@pytest.mark.promise("P3-ledger-chain", "P3-ledger")
@pytest.mark.parametrize("harm", ["cut", "gone", "grown", "head"])
def test_nothing_is_shown_behind_a_ledger_whose_end_is_not_its_own(
    tmp_path: Path, harm: str
) -> None:
    store = shown(tmp_path, 3)
    path, meta = store.root / "ledger.jsonl", store.root / "meta.json"
    kept = path.read_bytes().splitlines(keepends=True)
    if harm == "cut":
        path.write_bytes(b"".join(kept[:2]))
    elif harm == "gone":
        path.unlink()
    elif harm == "grown":
        path.write_bytes(b"".join([*kept, b"{}\n"]))
    else:
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "ledger": "lost"}))
    with pytest.raises(Unavailable, match="verify"):
        disclose(store, Wanted("bob"), NOW)
    assert [f.name for f in examine(store.root, NOW) if f.state == "broken"]
    store.begin_ledger_again()
    assert disclose(store, Wanted("bob"), NOW).entries
    assert (store.verify().intact, store.verify().length) == (True, 1)
    if harm != "gone":
        old = store.root / "versions" / "ledger" / "000001.json"
        assert old.read_bytes().startswith(kept[0])


def test_a_store_that_is_well_says_so_and_changes_nothing_by_it(tmp_path: Path) -> None:
    store = shown(tmp_path, 2)
    before = states(store.root)
    found = examine(store.root, NOW)
    assert {f.state for f in found} == {"well"}
    assert {f.name for f in found} >= {"folder", "signals", "documents", "consent", "ledger"}
    assert states(store.root) == before


def test_what_is_not_well_is_found_and_says_what_to_do(tmp_path: Path) -> None:
    store = shown(tmp_path, 1)
    store.append([statement("later")])
    (store.root / "platforms" / "gone.json").parent.mkdir(exist_ok=True)
    (store.root / "platforms" / "gone.json").write_text("{}")
    with (store.root / "signals.jsonl").open("a") as file:
        file.write('bad\n{"torn')
    (store.root / "consent.json").chmod(0o644)
    (store.root / "consent.json").write_text("{}")
    store.root.chmod(0o755)
    found = examine(store.root, NOW)
    text = " ".join(f.text for f in found if f.state != "well")
    for words in ("compiled.json, platforms/gone.json", "chmod 700", "consent.json",
                  "Line 5 is set aside", "left a piece", "not the sum"):  # fmt: skip
        assert words in text
    assert (store.root / "consent.json").stat().st_mode & 0o077


def test_a_folder_that_is_not_there_or_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert [f.state for f in examine(tmp_path / "none", NOW)] == ["note"]
    store = shown(tmp_path, 1)
    (store.root / "meta.json").write_text("{")
    found = {f.name: f for f in examine(store.root, NOW)}
    assert found["meta"].state == "broken"
    assert found["signals"].state == "well"
