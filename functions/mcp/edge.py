"""What is decided about a request before the SDK sees it, and about its answer afterwards.

The SDK's transport would hang on GET, answer 406 and 415, send plain text and library messages,
and let a batch through to a parser error. Here the edge answers 405 first, then Origin, caller,
media type, size and JSON-RPC shape, and hands on one clean event. `/mcp` answers no status
outside `STATUSES` (ruling 20).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from mcp.types import PROTOCOL_VERSION_META_KEY

from judgment.contract.principal import Principal
from judgment.entry.event import BODY_LIMIT, Event, body_bytes, body_size, section
from judgment.entry.refusals import problem_body, problem_headers
from judgment.kit.errors import InvalidRequest, Unauthorized

Reply: TypeAlias = dict[str, Any]

STATUSES = frozenset({200, 202, 400, 401, 403, 404, 405, 413, 503})
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
HEADER_MISMATCH, UNAVAILABLE = -32020, -32603
_VERSION = "mcp-protocol-version"
_HANDSHAKE_VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})


class Declined(Exception):
    """The request goes no further; `reply` is the whole answer."""

    def __init__(self, reply: Reply):
        super().__init__(reply["statusCode"])
        self.reply = reply


@dataclass(frozen=True)
class Admitted:
    """A request fit for the SDK: its cleaned event, lower-cased headers, message, and who asks."""

    event: dict[str, Any]
    headers: Mapping[str, str]
    message: Mapping[str, Any]
    principal: Principal
    underscores: bool

    @property
    def method(self) -> str:
        """The JSON-RPC method."""
        return self.message["method"]

    @property
    def name(self) -> object:
        """`params.name` as sent, of any type, or None."""
        return _mapping(self.message.get("params")).get("name")


def admit(event: Event, allowed_origins: frozenset[str]) -> Admitted:
    """Check a REST-proxy event of API Gateway. Raises Declined with the reply to give instead."""
    if event.get("httpMethod") != "POST":
        raise Declined(
            error(405, INVALID_REQUEST, "Only POST is served here.", headers={"Allow": "POST"})
        )
    headers = _headers(event)
    origin = headers.get("origin")
    if origin is not None and origin.rstrip("/").lower() not in allowed_origins:
        raise Declined(error(403, INVALID_REQUEST, "This Origin is not allowed."))
    principal = _principal(event)
    if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Declined(error(400, INVALID_REQUEST, "Content-Type must be application/json."))
    body = _body(event)
    message = _message(body)
    _check_era(message, headers)
    return Admitted(
        _clean(event, headers, body), headers, message, principal, _asks_underscores(event)
    )


def error(
    status: int,
    code: int,
    message: str,
    request_id: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """A JSON-RPC error as a proxy reply."""
    body = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return _reply(status, json.dumps(body, separators=(",", ":")), headers)


def settle(reply: Reply) -> Reply:
    """The SDK's reply, held to `STATUSES`: another 4xx is 400, a defect of ours 503."""
    if reply["statusCode"] in STATUSES:
        return {**reply, "statusCode": int(reply["statusCode"])}
    if reply["statusCode"] < 500:
        return error(400, INVALID_REQUEST, "The request is not valid.")
    return error(503, UNAVAILABLE, "The service is unavailable. Try again shortly.")


def _reply(status: int, body: str, headers: Mapping[str, str] | None = None) -> Reply:
    return {
        "statusCode": status,
        "headers": {"Content-Type": "application/json", **(headers or {})},
        "body": body,
        "isBase64Encoded": False,
    }


def _headers(event: Event) -> dict[str, str]:
    """All headers in lower case; repeated ones joined, so that no second value is overlooked."""
    many = section(event, "multiValueHeaders") or {
        name: [value] for name, value in section(event, "headers").items()
    }
    joined: dict[str, str] = {}
    for name, values in many.items():
        earlier = [joined[name.lower()]] if name.lower() in joined else []
        joined[name.lower()] = ", ".join([*earlier, *values])
    return joined


def _principal(event: Event) -> Principal:
    try:
        principal = Principal.from_context(event["requestContext"]["authorizer"])
    except (KeyError, TypeError, ValueError):
        principal = None
    if principal is None or principal.kind != "agent":
        refusal = Unauthorized()
        raise Declined(_reply(401, problem_body(refusal), problem_headers(refusal)))
    return principal


def _body(event: Event) -> bytes:
    if body_size(event) > BODY_LIMIT:
        raise Declined(error(413, INVALID_REQUEST, f"The body is over {BODY_LIMIT // 1024} KiB."))
    try:
        return body_bytes(event)
    except InvalidRequest as refusal:
        raise Declined(error(400, PARSE_ERROR, refusal.message)) from None


def _message(body: bytes) -> dict[str, Any]:
    """The one JSON-RPC request or notification in the body, `params` an object or nothing."""
    try:
        decoded: object = json.loads(body)
    except (ValueError, RecursionError):
        raise Declined(error(400, PARSE_ERROR, "The body is not JSON.")) from None
    if isinstance(decoded, list):
        raise Declined(error(400, INVALID_REQUEST, "Batches are not served: one message a call."))
    message = _mapping(decoded)
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise Declined(error(400, INVALID_REQUEST, "The body must be one JSON-RPC 2.0 request."))
    request_id = message.get("id", 0)
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        raise Declined(error(400, INVALID_REQUEST, "id must be a string or an integer."))
    params = message.get("params")
    if params is not None and not isinstance(params, dict):
        raise Declined(error(400, INVALID_PARAMS, "params must be an object.", message.get("id")))
    return message


def _check_era(message: dict[str, Any], headers: dict[str, str]) -> None:
    """Let the SDK's header-only routing see the era that the body declares.

    `initialize` is a handshake whatever version header it carries (Hermes sends the latest one);
    a body of the per-request era without its header is a mismatch, not an old client.
    """
    if message["method"] == "initialize":
        headers.pop(_VERSION, None)
        return
    declared = _mapping(_mapping(message.get("params")).get("_meta")).get(PROTOCOL_VERSION_META_KEY)
    if declared is not None and headers.get(_VERSION, "2025-03-26") in _HANDSHAKE_VERSIONS:
        raise Declined(
            error(
                400,
                HEADER_MISMATCH,
                "MCP-Protocol-Version must equal the version in params._meta.",
                message.get("id"),
            )
        )


def _mapping(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _clean(event: Event, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """The event as the SDK's transport wants it: one path, one value a header, a lenient Accept."""
    handed = {
        **headers,
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    return {
        "resource": "/mcp",
        "path": "/mcp",
        "httpMethod": "POST",
        "headers": handed,
        "queryStringParameters": None,
        "requestContext": event["requestContext"],
        "body": body.decode("utf-8", "replace"),
        "isBase64Encoded": False,
    }


def _asks_underscores(event: Event) -> bool:
    return section(event, "queryStringParameters").get("names") == "underscore"
