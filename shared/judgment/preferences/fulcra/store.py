"""An account of the named context store, as a remote for signals and documents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from judgment.kit.clock import utc_now
from judgment.kit.errors import Unavailable
from judgment.kit.hashing import canonical_json
from judgment.preferences.fulcra.calls import asking
from judgment.preferences.fulcra.client import connect
from judgment.preferences.fulcra.library import Library
from judgment.preferences.fulcra.places import find_or_make, our_types
from judgment.preferences.fulcra.port import Declined, NotOnboarded
from judgment.preferences.fulcra.reading import everything
from judgment.preferences.fulcra.records import (
    API_VERSION,
    BASE_TYPE,
    is_uuid,
    lacking_fields,
    record_of,
)
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.remote import Pulled, Pushed
from judgment.preferences.signals import ALIAS_LIMIT, Quarantined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from judgment.kit.deadline import Deadline
    from judgment.preferences.fulcra.client import Settings
    from judgment.preferences.fulcra.library import Version
    from judgment.preferences.fulcra.port import Client
    from judgment.preferences.fulcra.reading import Found
    from judgment.preferences.remote import Onboarded, Published

BATCH = 100
"""Records in one upload."""
META = "meta.json"
TOMBSTONE = "DeletedRecord"


class FulcraStore:
    """`definition_id` is what `onboard` found earlier; without it the catalogue is asked once.

    Requests are made one after another; an object is for one thread.
    """

    name = "fulcra"

    def __init__(
        self,
        client: Client,
        settings: Settings,
        definition_id: str | None = None,
        now: Callable[[], datetime] = utc_now,
    ):
        self._client = client
        self._seconds = settings.seconds
        self._definition_id = definition_id
        self._now = now
        self._checked: set[str] = set()
        self._library = Library(client, settings.folder, settings.seconds)

    @classmethod
    def open(
        cls,
        settings: Settings,
        definition_id: str | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> FulcraStore:
        """By the real package. Raises SignInNeeded, Unavailable; makes no request."""
        return cls(connect(settings), settings, definition_id, now)

    def onboard(self) -> Onboarded:
        """See `Remote.onboard`. The place is also written to `meta.json` in the account's files,
        beside what another system may keep there, for agents that have no catalogue at hand."""
        found = find_or_make(self._client, self._seconds)
        self._definition_id = found.definition_id
        there = self._library.fetch(META)
        meta = meta_with(found.definition_id, None if there is None else _object(there))
        self._library.write({META: canonical_json(meta) + "\n"})
        return found

    def push(self, signals: Sequence[Signal], deadline: Deadline | None = None) -> Pushed:
        """See `Remote.push`. A batch that is declined is halved until it is known which record is
        wrong."""
        data_type = self._place(deadline)
        self._check(data_type, deadline)
        rejected: dict[str, str] = {}
        records: list[dict[str, Any]] = []
        for signal in signals:
            try:
                records.append(record_of(signal, self._now()))
            except InvalidSignal as invalid:
                rejected[signal.id] = invalid.message
        accepted: set[str] = set()
        trouble: str | None = None
        try:
            for start in range(0, len(records), BATCH):
                batch = records[start : start + BATCH]
                self._send(data_type, batch, accepted, rejected, deadline)
        except Unavailable as stopped:
            if not accepted and not rejected:
                raise
            trouble = stopped.message
        return Pushed(frozenset(accepted), rejected, trouble)

    def pull(self) -> Pulled:
        """See `Remote.pull`: our records, and the annotations of the two older systems."""
        signals: dict[str, Signal] = {}
        bad: list[Quarantined] = []
        left_out = 0
        names: dict[str, set[str]] = {}
        for found in self._everything():
            says = found.says
            if isinstance(says, Quarantined):
                bad.append(says)
            elif says.kind == "consent":
                left_out += 1
            else:
                signals.setdefault(says.id, says)
                names.setdefault(says.id, set()).update(says.aliases)
        corrected = {one.supersedes for one in signals.values()}
        merged = [_called(one, names[one.id] - {one.id}, corrected) for one in signals.values()]
        return Pulled(tuple(merged), tuple(bad), left_out)

    def publish(self, files: Mapping[str, str]) -> Published:
        """See `Remote.publish`. Absolute paths below the folder of the settings."""
        return self._library.publish(files)

    def fetch(self, path: str) -> str | None:
        """The text of a published file, or None where there is none. Raises Unavailable."""
        return self._library.fetch(path)

    def versions(self, path: str) -> list[Version]:
        """The versions of a published file, newest first. Raises Unavailable."""
        return self._library.versions(path)

    def fetch_version(self, identifier: str) -> str:
        """The text of one version. Raises Unavailable."""
        return self._library.fetch_version(identifier)

    def withdraw(self, key: str, *, before: datetime, ids: Collection[str] = ()) -> int:
        """See `Remote.withdraw`: a tombstone a record. The service hides what a tombstone names;
        it does not erase it, and published versions of documents stay as they are."""
        targets = {(BASE_TYPE, API_VERSION, name) for name in ids if is_uuid(name)}
        for found in self._everything():
            if found.record_id is not None and found.is_about(key, before):
                targets.add((found.base, found.version, found.record_id))
        for base, version in sorted({target[:2] for target in targets}):
            named = sorted(target[2] for target in targets if target[:2] == (base, version))
            for start in range(0, len(named), BATCH):
                tombstones = [
                    {"record_id": name, "data_type": base} for name in named[start : start + BATCH]
                ]
                with asking("a withdrawal", self._seconds):
                    self._client.record_data_type(TOMBSTONE, tombstones, version)
        return len(targets)

    def _place(self, deadline: Deadline | None) -> str:
        if self._definition_id is None:
            active = our_types(self._client, self._time(deadline)).active
            if not active:
                raise NotOnboarded
            self._definition_id = active[0]
        return self._definition_id

    def _time(self, deadline: Deadline | None) -> float:
        return self._seconds if deadline is None else min(self._seconds, deadline.remaining())

    def _check(self, data_type: str, deadline: Deadline | None) -> None:
        """Once an object: that the type still declares what we send. The service takes a record
        with other fields, says so, and drops them."""
        if data_type in self._checked:
            return
        with asking("its schema", self._time(deadline)):
            schema: Any = self._client.v1_catalog_schema(data_type, API_VERSION)
        lacking = lacking_fields(schema)
        if lacking:
            raise Unavailable(
                f"The data type at Fulcra does not take {', '.join(lacking)}: nothing was sent."
            )
        self._checked.add(data_type)

    def _send(
        self,
        data_type: str,
        records: list[dict[str, Any]],
        accepted: set[str],
        rejected: dict[str, str],
        deadline: Deadline | None,
    ) -> None:
        try:
            with asking("signals", self._time(deadline)):
                self._client.record_data_type(data_type, records, API_VERSION)
        except Declined as declined:
            if not declined.of_the_record:
                raise
            if len(records) == 1:
                rejected[records[0]["id"]] = declined.message
                return
            middle = len(records) // 2
            for part in (records[:middle], records[middle:]):
                self._send(data_type, part, accepted, rejected, deadline)
        else:
            accepted.update(record["id"] for record in records)

    def _everything(self) -> Iterator[Found]:
        return everything(self._client, self._seconds, self._now(), self._definition_id)


def _called(signal: Signal, names: Collection[str], corrected: Collection[str | None]) -> Signal:
    """A signal with the names that its records bear, as many as can be kept: one that was sent
    again and again has one for each time, and those that a correction means come first."""
    ordered = sorted(names, key=lambda name: (name not in corrected, name))
    return replace(signal, aliases=tuple(sorted(ordered[:ALIAS_LIMIT])))


def meta_with(data_type: str, there: dict[str, Any] | None) -> dict[str, Any]:
    """What `meta.json` says. `event_type` is our type; the two names by which another system finds
    its own definition stay as they are, unless they are missing or were ours."""
    meta = {**(there or {}), "event_type": data_type}
    theirs = meta.get("data_type")
    if not isinstance(theirs, str) or theirs.startswith(f"{BASE_TYPE}/"):
        meta.update(data_type=data_type, definition_id=data_type.partition("/")[2])
    meta.setdefault("v", 1)
    return meta


def _object(text: str) -> dict[str, Any]:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}
