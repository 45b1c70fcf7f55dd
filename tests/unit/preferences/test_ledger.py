"""The chain of what was shown: whatever is done to it is found, given its head."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest
from judgment.preferences.ledger import (
    FIELDS,
    START,
    Event,
    Head,
    Link,
    chained,
    from_stored,
    linked,
    stored,
    verify,
)

pytestmark = pytest.mark.promise("P3-ledger-chain")
AT = datetime(2026, 6, 10, 12, tzinfo=UTC)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
events = st.builds(
    Event,
    kind=st.sampled_from(("disclosure", "denial")),
    at=st.datetimes(timezones=st.just(UTC)),
    audience=texts,
    purpose=st.sampled_from(("read", "solve")),
    platform=st.one_of(st.none(), st.just("codex")),
    keys=st.lists(texts, max_size=4).map(tuple),
    by=texts,
    correlation=texts,
)
chains = st.lists(events, min_size=1, max_size=8).map(lambda found: chained(START, found))


@given(chains)
def test_a_chain_that_nobody_touched_is_whole(links: tuple[Link, ...]) -> None:
    found = verify([from_stored(json.loads(json.dumps(stored(k)))) for k in links], links[-1].head)
    assert (found.intact, found.length, found.problems) == (True, len(links), ())


def test_the_empty_chain_is_whole_and_any_other_head_is_not_its_own() -> None:
    assert verify([], START).intact
    assert not verify([], Head(1, "00")).intact


@given(chains, st.data())
def test_an_edit_of_any_byte_of_any_link_is_found(
    links: tuple[Link, ...], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(links) - 1))
    field = data.draw(st.sampled_from(("entry", "previous", "hash")))
    text = getattr(links[place], field)
    assume(text)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(exclude_categories=("Cs",)).filter(lambda c: c != text[at]))
    edited = replace(links[place], **{field: text[:at] + other + text[at + 1 :]})
    assert not verify([*links[:place], edited, *links[place + 1 :]], links[-1].head).intact


@given(chains, st.data())
def test_an_entry_written_anew_with_a_right_hash_is_found(
    links: tuple[Link, ...], data: st.DataObject
) -> None:
    """Who edits an entry and its hash breaks the next link, or the head."""
    place = data.draw(st.integers(0, len(links) - 1))
    before = links[place - 1].head if place else START
    forged = linked(before, data.draw(events))
    assume(forged != links[place])
    assert not verify([*links[:place], forged, *links[place + 1 :]], links[-1].head).intact


@given(chains, st.data())
def test_a_position_told_wrong_is_found(links: tuple[Link, ...], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(links) - 1))
    position = data.draw(st.integers().filter(lambda n: n != links[place].position))
    wrong = replace(links[place], position=position)
    assert not verify([*links[:place], wrong, *links[place + 1 :]], links[-1].head).intact


@given(chains, st.data())
def test_a_missing_link_is_found(links: tuple[Link, ...], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(links) - 1))
    last = data.draw(st.integers(first + 1, len(links)))
    assert not verify([*links[:first], *links[last:]], links[-1].head).intact


@given(chains, st.data())
def test_a_missing_end_is_found_only_by_the_head(
    links: tuple[Link, ...], data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(links) - 1))
    shorter = links[:length]
    assert verify(shorter, shorter[-1].head if shorter else START).intact
    assert not verify(shorter, links[-1].head).intact


@given(chains, st.data())
def test_an_inserted_or_doubled_link_is_found(links: tuple[Link, ...], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(links)))
    before = links[place - 1].head if place else START
    more = data.draw(st.one_of(st.sampled_from(links), events.map(lambda e: linked(before, e))))
    assert not verify([*links[:place], more, *links[place:]], links[-1].head).intact


@given(chains, st.data())
def test_a_swap_is_found(links: tuple[Link, ...], data: st.DataObject) -> None:
    assume(len(links) > 1)
    one = data.draw(st.integers(0, len(links) - 1))
    other = data.draw(st.integers(0, len(links) - 1).filter(lambda n: n != one))
    swapped = list(links)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    assert not verify(swapped, links[-1].head).intact


def test_an_entry_says_who_saw_which_keys_and_never_a_value() -> None:
    event = Event("disclosure", AT, "bob", "read", None, ("b", "a", "b"), "cli", "request-1")
    link = linked(START, event)
    entry = json.loads(link.entry)
    assert set(entry) == FIELDS
    assert entry["keys"] == ["a", "b"]
    assert entry["at"] == "2026-06-10T12:00:00Z"
    assert link.hash == hashlib.sha256(link.entry.encode()).hexdigest()
    second = linked(link.head, event)
    assert second.hash == hashlib.sha256((link.hash + second.entry).encode()).hexdigest()


def test_an_entry_of_another_kind_is_found_however_well_it_is_hashed() -> None:
    entry = json.loads(linked(START, Event("denial", AT, "b", "read", None, (), "x", "")).entry)
    text = json.dumps({**entry, "kind": "grant"})
    forged = Link(1, text, "", hashlib.sha256(text.encode()).hexdigest())
    assert not verify([forged], forged.head).intact


def test_problems_name_their_places_and_are_bounded() -> None:
    links = chained(START, [Event("denial", AT, "b", "read", None, (), "x", "")] * 60)
    found = verify(links[1:], links[-1].head)
    assert found.problems[0].startswith("Link 1 says that it is 2")
    assert len(found.problems) <= 21


@pytest.mark.parametrize(
    "kept",
    [
        None, [], {}, {"position": 1}, "x",
        {"position": True, "entry": "", "previous": "", "hash": ""},
        {"position": 1, "entry": 1, "previous": "", "hash": ""},
        {"position": 1, "entry": "", "previous": "", "hash": "", "more": 1},
    ],
)  # fmt: skip
def test_what_is_no_link_is_refused(kept: object) -> None:
    with pytest.raises(InvalidRequest, match="not a link"):
        from_stored(kept)
