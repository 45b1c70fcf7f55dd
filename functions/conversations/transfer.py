"""A memory's coming and going: pages of lines out, parts in, named by whoever sends them."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from judgment.contract.memory import (
    MOST_PARTS,
    PART_BYTES,
    ImportOrder,
    ImportPart,
    MemoryExportQuery,
)
from judgment.entry.http import Endpoint, Reply, Request
from judgment.kit.errors import InvalidRequest, TooLarge
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from uuid import UUID

    from pydantic import BaseModel

    from functions.conversations.wiring import Parts

_NUMBER = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)


def of_memory(parts: Parts) -> dict[str, Endpoint]:
    """The endpoints below `/api/v1/memory`."""

    def page(request: Request) -> Reply:
        text = parts.exports.page(
            request.principal.user_id, request.query(MemoryExportQuery).cursor
        )
        return Reply(text, content_type=request.route.media_type)

    def part(request: Request) -> Reply:
        data = _part_bytes(request.body(ImportPart).data)
        parts.imports.part(
            request.principal.user_id, _import_id(request), _part_number(request), data
        )
        return Reply()

    def carry_out(request: Request) -> BaseModel:
        order = request.body(ImportOrder)
        return parts.imports.carry_out(request.principal.user_id, _import_id(request), order)

    one = "/api/v1/memory/imports/{import_id}"
    return {
        "GET /api/v1/memory/export": page,
        f"PUT {one}/parts/{{part}}": part,
        f"POST {one}": carry_out,
    }


def _import_id(request: Request) -> UUID:
    """The import that the address names. Raises InvalidRequest."""
    named = parse_uuid(request.path["import_id"])
    if named is None:
        raise InvalidRequest("An import is named by a UUID, which its sender chooses.")
    return named


def _part_number(request: Request) -> int:
    """The part's place, from 1. Raises InvalidRequest."""
    text = request.path["part"]
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if not 1 <= number <= MOST_PARTS:
        raise InvalidRequest(f"A part is numbered from 1 to {MOST_PARTS}.")
    return number


def _part_bytes(text: str) -> bytes:
    """The part's bytes. Raises InvalidRequest for base64 that is none, and TooLarge."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise InvalidRequest("data: not base64") from error
    if len(data) > PART_BYTES:
        raise TooLarge(f"A part has at most {PART_BYTES} bytes.")
    return data
