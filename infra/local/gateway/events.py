"""HTTP requests as the events that API Gateway's REST proxy integration sends to Lambda.

Source: API Gateway developer guide, "Input format of a Lambda function for proxy integration" and
"Input to a Lambda REQUEST authorizer". The API stands behind a custom domain, so that the stage
is in no path. `domainName` is the configured one and never the client's Host header.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from infra.local.gateway.routing import Match

ACCOUNT = "000000000000"
REGION = "us-east-1"
API_ID = "localapi00"
STAGE = "live"

Event = dict[str, Any]


@dataclass(frozen=True)
class HttpRequest:
    """One request as it came in; `path` is percent-encoded, header names are lower case."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    client: str
    body: bytes


@dataclass(frozen=True)
class Stamp:
    """What the gateway itself adds to a request."""

    request_id: str
    at: datetime
    domain: str

    @property
    def request_time(self) -> str:
        """`$context.requestTime`, as in Apache's log."""
        return self.at.strftime("%d/%b/%Y:%H:%M:%S +0000")


def proxy_event(request: HttpRequest, match: Match, stamp: Stamp) -> Event:
    """The event of the proxy integration. Bodies are text: no binary media type is configured."""
    headers = _grouped((*_shown(request.headers), *_added(request, stamp)))
    query = _grouped(parse_qsl(request.query, keep_blank_values=True))
    return {
        "resource": match.route.path,
        "path": request.path,
        "httpMethod": request.method,
        "headers": _last(headers),
        "multiValueHeaders": headers,
        "queryStringParameters": _last(query),
        "multiValueQueryStringParameters": query or None,
        "pathParameters": match.parameters or None,
        "stageVariables": None,
        "requestContext": _context(request, match, stamp),
        "body": request.body.decode("utf-8", "replace") if request.body else None,
        "isBase64Encoded": False,
    }


def authorizer_event(event: Event) -> Event:
    """The same request as a REQUEST authorizer sees it: without its body."""
    shown = {key: value for key, value in event.items() if key not in ("body", "isBase64Encoded")}
    arn = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{API_ID}/{STAGE}"
    return {"type": "REQUEST", "methodArn": f"{arn}/{event['httpMethod']}{event['path']}", **shown}


def _context(request: HttpRequest, match: Match, stamp: Stamp) -> Event:
    agent = next((value for name, value in request.headers if name == "user-agent"), None)
    return {
        "accountId": ACCOUNT,
        "apiId": API_ID,
        "deploymentId": "local",
        "domainName": stamp.domain,
        "domainPrefix": stamp.domain.split(".", 1)[0],
        "extendedRequestId": stamp.request_id[:16],
        "httpMethod": request.method,
        "identity": {"sourceIp": request.client, "userAgent": agent},
        "path": request.path,
        "protocol": "HTTP/1.1",
        "requestId": stamp.request_id,
        "requestTime": stamp.request_time,
        "requestTimeEpoch": int(stamp.at.timestamp() * 1000),
        "resourceId": "local",
        "resourcePath": match.route.path,
        "stage": STAGE,
    }


def _added(request: HttpRequest, stamp: Stamp) -> tuple[tuple[str, str], ...]:
    came = [value for name, value in request.headers if name == "x-forwarded-for"]
    epoch = int(stamp.at.timestamp())
    return (
        ("X-Forwarded-For", ", ".join([*came, request.client])),
        ("X-Forwarded-Port", "443"),
        ("X-Forwarded-Proto", "https"),
        ("X-Amzn-Trace-Id", f"Root=1-{epoch:08x}-{secrets.token_hex(12)}"),
    )


_REPLACED = {"x-forwarded-for", "x-forwarded-port", "x-forwarded-proto", "x-amzn-trace-id"}


def _shown(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((_title(name), value) for name, value in headers if name not in _REPLACED)


@lru_cache(maxsize=512)
def _title(name: str) -> str:
    return "-".join(part.capitalize() for part in name.split("-"))


def _grouped(pairs: Any) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


def _last(groups: dict[str, list[str]]) -> dict[str, str] | None:
    """API Gateway's single-value maps hold the last of repeated values."""
    return {name: values[-1] for name, values in groups.items()} or None
