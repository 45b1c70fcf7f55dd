"""Every record of signals in an account, in three shapes: each read, or set aside and told of."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from judgment.kit.errors import Unavailable
from judgment.kit.hashing import sha256_hex
from judgment.preferences.fulcra.calls import asking
from judgment.preferences.fulcra.places import older_definitions, our_types
from judgment.preferences.fulcra.records import API_VERSION, BASE_TYPE, EARLIEST, signal_of
from judgment.preferences.legacy import read_record
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import Quarantined
from judgment.preferences.times import read_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from judgment.preferences.fulcra.port import Client

AHEAD = timedelta(days=1)
"""How far beyond now the window reaches: for clocks that are ahead of ours."""
OLDER_BASE, OLDER_VERSION = "MomentAnnotation", "v1alpha1"


class Found(NamedTuple):
    """A record as it lies there: of which base type and version, its id, and what it says.

    `begins` is the record's own time where it can be read: a statement that claims to be of the
    future was received by then.
    """

    base: str
    version: str
    record_id: str | None
    says: Signal | Quarantined
    begins: datetime | None = None

    def is_about(self, key: str, before: datetime) -> bool:
        """Whether this is a statement about the key that was there at that moment."""
        if isinstance(self.says, Quarantined) or self.says.key != key:
            return False
        observed = self.says.observed_at
        return min(observed, self.begins or observed) <= before


class _Raw(NamedTuple):
    line: bytes
    base: str
    version: str
    read: Callable[[Any], Signal]


def everything(
    client: Client, seconds: float, now: datetime, data_type: str | None = None
) -> Iterator[Found]:
    """Our records, of `data_type` too where the catalogue does not name it, then the older ones.

    Nothing is left out in silence: a request that fails raises Unavailable.
    """
    raws = (*_ours(client, seconds, now, data_type), *_older(client, seconds, now))
    for number, raw in enumerate(raws, 1):
        yield _read(number, raw)


def _ours(client: Client, seconds: float, now: datetime, data_type: str | None) -> Iterator[_Raw]:
    places = our_types(client, seconds)
    known = [*places.active, *places.archived, *([data_type] if data_type else [])]
    end = int((now + AHEAD).timestamp())
    window = f"[{end - int(EARLIEST.timestamp())}s] @ {end}"
    for name in dict.fromkeys(known):
        with asking("signals", seconds):
            lines = client.fulcra_v1_records(f'{{__name__="{name}"}}{window}').split(b"\n")
        for line in lines:
            if line.strip():
                yield _Raw(line, BASE_TYPE, API_VERSION, partial(signal_of, received_at=now))


def _older(client: Client, seconds: float, now: datetime) -> Iterator[_Raw]:
    window = {"start_time": EARLIEST.isoformat(), "end_time": (now + AHEAD).isoformat()}
    for definition in older_definitions(client, seconds):
        with asking("older signals", seconds):
            path = f"event/{OLDER_BASE}/{definition}"
            records: Any = json.loads(client.fulcra_v1alpha1_api_path(path, window))
        if not isinstance(records, list):
            raise Unavailable("Fulcra gave older signals in a form that is not known.")
        for record in cast("list[Any]", records):
            yield _Raw(json.dumps(record).encode(), OLDER_BASE, OLDER_VERSION, read_record)


def _read(number: int, raw: _Raw) -> Found:
    record: Any = None
    try:
        record = json.loads(raw.line)
    except (ValueError, RecursionError):
        says: Signal | Quarantined = Quarantined(
            number, "the record is not JSON", sha256_hex(raw.line)
        )
    else:
        try:
            says = raw.read(record)
        except InvalidSignal as invalid:
            says = Quarantined(number, invalid.message, sha256_hex(raw.line))
    fields = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
    name = fields.get("id")
    named = name if isinstance(name, str) else None
    return Found(raw.base, raw.version, named, says, _moment(fields.get("start_time")))


def _moment(text: object) -> datetime | None:
    try:
        return read_moment(text)[0]
    except InvalidSignal:
        return None
