"""One person's account on the store of `tests.fakes.fulcra_server`: what it keeps and refuses.

The rules are those of the reference, section 3, and of the package's own checks: a record is judged
by its type's schema, a known id is the same record, an undeclared field is dropped in silence, a
deletion hides and erases nothing, a path is absolute, a file's earlier versions stay.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema
from fulcra_api.record_validation import record_format_checker

START = datetime(2026, 6, 10, 12, tzinfo=UTC)
TIME = {"type": "string", "format": "date-time"}
SHARED = {
    "tags": {"type": "array", "items": {"type": "string", "format": "uuid"}},
    "sources": {"type": "array", "items": {"type": "string"}},
}
EVENT = {"id": {"type": "string", "format": "uuid"}, "start_time": TIME, "end_time": TIME, **SHARED}
MOMENT = {
    "id": {"type": "string", "format": "uuid"},
    "note": {"type": ["string", "null"]},
    "recorded_at": TIME,
    **SHARED,
}
DELETED = {
    "record_id": {"type": "string", "format": "uuid"},
    "data_type": {"enum": ["Event", "Metric", "MomentAnnotation"]},
}
ANNOTATION_SOURCE = "com.fulcradynamics.annotation."


class Refused(Exception):
    """What the service answers instead: a status and its reason."""

    def __init__(self, status: int, detail: Any):
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


def schema(properties: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object schema that says nothing about other fields, as the service's do."""
    return {"type": "object", "properties": properties, "required": list(required)}


@dataclass
class DataType:
    """A type that somebody made on top of `Event`."""

    id: str
    name: str
    description: str
    schema: dict[str, Any]
    owner: str
    deprecated: bool = False

    def entry(self) -> dict[str, Any]:
        """As the catalogue lists it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "api_version": "v1",
            "categories": ["user_configured"],
            "class": "event",
            "recordable": True,
            "deprecated": self.deprecated,
            "fulcra_userid": self.owner,
            "record_spec": {"type": "event", "schema": self.schema},
        }


@dataclass
class Account:
    """What one person keeps. `type_ids` are given to the types that are made next."""

    userid: str = "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1"
    types: dict[str, DataType] = field(default_factory=dict)
    records: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    bytes_of: dict[str, bytes] = field(default_factory=dict)
    uploads: int = 0
    ticks: Iterator[int] = field(default_factory=itertools.count)
    type_ids: list[str] = field(default_factory=list)

    def moment(self) -> str:
        """A time later than any before."""
        return (START + timedelta(seconds=next(self.ticks))).isoformat()

    def add_type(self, name: str, description: Any, spec: Any, owner: str | None = None) -> str:
        """Make a type on `Event`; its id."""
        if not isinstance(description, str) or not description.strip():
            raise Refused(422, [{"loc": ["body", "description"], "msg": "Field required"}])
        try:
            fields = json.loads((spec or {})["schema"])
            properties, required = fields["properties"], tuple(fields.get("required", ()))
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(422, f"record_spec.schema: {type(error).__name__}") from error
        identifier = f"Event/{self.type_ids.pop(0) if self.type_ids else uuid.uuid4()}"
        whole = schema({**EVENT, **properties}, required)
        owned = owner or self.userid
        self.types[identifier] = DataType(identifier, name, description, whole, owned)
        return identifier

    def schema_of(self, data_type: str, version: str) -> dict[str, Any]:
        """The schema records of this type are judged by; 404 for what takes none."""
        if version == "v1" and data_type in self.types and not self.types[data_type].deprecated:
            return self.types[data_type].schema
        if version == "v1alpha1" and data_type == "MomentAnnotation":
            return schema(MOMENT, ("recorded_at",))
        if version in ("v1", "v1alpha1") and data_type == "DeletedRecord":
            return schema(DELETED, ("record_id", "data_type"))
        raise Refused(404, f"no data type {data_type} in {version}")

    def ingest(self, data_type: str, version: str, records: list[Any]) -> str:
        """Take all of the records or none; the upload's id."""
        judged = self.schema_of(data_type, version)
        self._judge(judged, version, records)
        for record in records:
            kept = {name: record[name] for name in judged["properties"] if name in record}
            if data_type == "DeletedRecord":
                self.deleted.add(kept["record_id"])
                continue
            kept.setdefault("id", str(uuid.uuid4()))
            self.records[(data_type, kept["id"])] = kept
        self.uploads += 1
        return str(uuid.uuid4())

    @staticmethod
    def _judge(judged: dict[str, Any], version: str, records: list[Any]) -> None:
        checker = record_format_checker(version)
        validator = jsonschema.Draft202012Validator(judged, format_checker=checker)
        found = [
            {"loc": ["body", place, *error.path], "msg": error.message[:200]}
            for place, record in enumerate(records)
            for error in validator.iter_errors(record)
        ]
        if found or not records:
            raise Refused(422, found or "no records")

    def events(self, data_type: str, start: float, end: float) -> list[dict[str, Any]]:
        """Records of a type of ours that begin within [start, end), oldest first."""
        if data_type not in self.types:
            raise Refused(404, f"no data type {data_type}")
        return self._within(data_type, "start_time", start, end)

    def moments(self, definition: str | None, start: float, end: float) -> list[dict[str, Any]]:
        """Moment annotations within [start, end), of one definition or of all."""
        source = None if definition is None else ANNOTATION_SOURCE + definition
        return [
            record
            for record in self._within("MomentAnnotation", "recorded_at", start, end)
            if source is None or source in record.get("sources", [])
        ]

    def _within(self, kind: str, named: str, start: float, end: float) -> list[dict[str, Any]]:
        found = [
            (instant(str(record.get(named) or START.isoformat())), record)
            for (data_type, identifier), record in self.records.items()
            if data_type == kind and identifier not in self.deleted
        ]
        found.sort(key=lambda pair: pair[0])
        return [record for at, record in found if start <= at < end]

    def define(self, name: str, deleted_at: str | None = None) -> str:
        """A moment annotation of that name; its definition's id."""
        identifier = str(uuid.uuid4())
        self.annotations.append(
            {
                "id": identifier,
                "name": name,
                "annotation_type": "moment",
                "fulcra_userid": self.userid,
                "deleted_at": deleted_at,
            }
        )
        return identifier

    def store(self, path: str, name: str, content_type: str, content: bytes) -> dict[str, Any]:
        """A new version of a file; the one before is archived."""
        for version in self.files:
            if (version["path"], version["name"]) == (path, name):
                version["state"] = (
                    "archived" if version["state"] == "uploaded" else version["state"]
                )
        identifier = str(uuid.uuid4())
        entry: dict[str, Any] = {
            "id": identifier,
            "path": path,
            "name": name,
            "size": len(content),
            "content_type": content_type,
            "state": "uploaded",
            "uploaded_at": self.moment(),
        }
        self.files.append(entry)
        self.bytes_of[identifier] = content
        return entry

    def listed(self, path: str, name: str | None, states: list[str]) -> dict[str, Any]:
        """Files in one folder."""
        if not path.startswith("/"):
            raise Refused(422, "path must be absolute")
        files = [
            version
            for version in self.files
            if version["path"] == path
            and version["state"] in states
            and name in (None, version["name"])
        ]
        return {"files": files, "folders": []}

    def version(self, identifier: str) -> dict[str, Any]:
        """One version of a file."""
        for version in self.files:
            if version["id"] == identifier:
                return version
        raise Refused(404, "no such file")


def instant(text: str) -> float:
    """Seconds since 1970; a time without a zone is UTC. 422 for what is no time."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refused(
            422, [{"loc": ["query"], "msg": "Input should be a valid datetime"}]
        ) from error
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
