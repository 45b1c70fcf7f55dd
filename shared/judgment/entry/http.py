"""A JSON door: API Gateway's event in, the contract's answer out, on every path.

The route table says who may call and what a query string may hold; an endpoint gets a `Request`
and returns a model or a `Reply`. Refusals become the contract's problem, anything else that
escapes becomes 500 `internal_error` and a log line. Nothing is ever cacheable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from pydantic import BaseModel, ValidationError

from judgment.contract.principal import Principal
from judgment.contract.routes import ROUTES, Route
from judgment.entry import event as read
from judgment.entry import observability as seen
from judgment.entry.refusals import JSON, InvalidShape, gateway_body, problem_body, problem_headers
from judgment.kit.deadline import Deadline
from judgment.kit.errors import (
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    Refusal,
    TooLarge,
    Unauthorized,
)

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_ALWAYS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Request:
    """One call of one route, already authenticated as the route table asks."""

    event: read.Event
    route: Route
    path: Mapping[str, str]
    correlation_id: str
    caller: Principal | None
    deadline: Deadline

    @property
    def principal(self) -> Principal:
        """The caller. Raises Unauthorized on a route that nobody needs to be known for."""
        if self.caller is None:
            raise Unauthorized
        return self.caller

    def query(self, model: type[M]) -> M:
        """The query string. Raises InvalidRequest if unknown, repeated or out of range."""
        values = read.query_values(self.event)
        repeated = next((name for name, given in values.items() if len(given) > 1), None)
        if repeated is not None:
            raise InvalidRequest(f"{repeated[:50]}: given more than once")
        single = {name: given[0] for name, given in values.items()}
        return _checked(lambda: model.model_validate_strings(single))

    def body(self, model: type[M]) -> M:
        """The JSON body. Raises InvalidRequest if it is not what `model` asks for."""
        raw = read.body_bytes(self.event)
        if not raw:
            raise InvalidShape("A JSON body is required.")
        return _checked(lambda: model.model_validate_json(raw))

    def idempotency_key(self) -> str | None:
        """The `Idempotency-Key` as it was sent; who uses it checks it."""
        return read.header(self.event, "Idempotency-Key")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is not simply a model: `body` is text, `status` overrides the route's."""

    body: str = ""
    status: int | None = None
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Endpoint = Callable[[Request], BaseModel | Reply]


class HttpDoor:
    """The handler of a JSON door.

    `endpoints` maps "METHOD /path", as the route table writes it, to a function. Raises ValueError
    when the table's rows for this door and the endpoints are not the same set.
    """

    def __init__(
        self,
        name: str,
        endpoints: Mapping[str, Endpoint],
        telemetry: Telemetry,
        routes: Sequence[Route] = ROUTES,
    ):
        self._telemetry = telemetry
        self._body_of = problem_body
        self._resolver = APIGatewayRestResolver(debug=False)
        rows = {f"{row.method} {row.path}": row for row in routes if row.door == name}
        self._of_gateway = any(row.errors == "gateway" for row in rows.values())
        if rows.keys() != endpoints.keys():
            raise ValueError(f"{name}: table and door differ: {rows.keys() ^ endpoints.keys()}")
        for key, row in sorted(rows.items(), key=lambda item: item[1].method == "ANY"):
            self._add(row, endpoints[key])
        self._resolver.exception_handler(Refusal)(self._refused)
        self._resolver.exception_handler(NotFoundError)(self._nothing_here)
        self._resolver.exception_handler(Exception)(self._failed)

    def __call__(self, event: read.Event, context: Any) -> dict[str, Any]:
        """Answer one REST-proxy event."""
        started = time.perf_counter()
        correlation = read.correlation_id(event)
        self._body_of = problem_body
        try:
            answer = self._resolver.resolve(event, context)
            answer["multiValueHeaders"][read.CORRELATION_HEADER] = [correlation]
            self._say(event, answer["statusCode"], correlation, started)
        finally:
            self._telemetry.flush()
        return answer

    def _add(self, route: Route, endpoint: Endpoint) -> None:
        resolver = self._resolver

        def run(**path: str) -> Response[str]:
            self._body_of = gateway_body if route.errors == "gateway" else problem_body
            event: read.Event = resolver.current_event.raw_event
            _within_limits(event, route)
            caller = _caller(event, route)
            ends = Deadline.of_lambda(resolver.lambda_context)
            request = Request(event, route, path, read.correlation_id(event), caller, ends)
            return _response(route, endpoint(request))

        rule = route.path.replace("{", "<").replace("}", ">")
        if "+}" in route.path:
            rule = route.path.partition("{")[0] + ".+"
        for method in _METHODS if route.method == "ANY" else (route.method,):
            resolver.route(rule, method)(run)

    def _nothing_here(self, _: NotFoundError) -> Response[str]:
        path = str(self._resolver.current_event.raw_event.get("path"))
        if self._of_gateway and not path.startswith("/api/"):
            self._body_of = gateway_body
        return self._refused(NotFound())

    def _refused(self, refusal: Refusal) -> Response[str]:
        if isinstance(refusal, RateLimited):
            self._telemetry.count(seen.RATE_LIMITED)
        if refusal.status == HTTPStatus.SERVICE_UNAVAILABLE:
            self._log(seen.UNAVAILABLE, refusal.__cause__ or refusal)
        head = {**_ALWAYS, **problem_headers(refusal)}
        return Response(refusal.status, JSON, self._body_of(refusal), head)

    def _failed(self, error: Exception) -> Response[str]:
        self._log(seen.INTERNAL_ERROR, error)
        return self._refused(Refusal())

    def _log(self, metric: str, error: BaseException) -> None:
        event: read.Event = self._resolver.current_event.raw_event
        self._telemetry.count(metric)
        self._telemetry.failure(metric, error, correlation_id=read.correlation_id(event))

    def _say(self, event: read.Event, status: int, correlation: str, started: float) -> None:
        """One line per call, but for agents' reads that went well: those have the wire log."""
        who = read.section(event, "requestContext", "authorizer")
        if status < HTTPStatus.BAD_REQUEST and who.get("kind") == "agent":
            return
        self._telemetry.info(
            "request",
            correlation_id=correlation,
            method=event.get("httpMethod"),
            path=str(event.get("path"))[:200],
            status=status,
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
            user_id=who.get("user_id"),
            key_prefix=who.get("key_prefix"),
        )


def _caller(event: read.Event, route: Route) -> Principal | None:
    """The principal the authorizer vouched for; a door never opens wider than its route says."""
    if route.auth == "none":
        return None
    try:
        principal = Principal.from_context(read.section(event, "requestContext", "authorizer"))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Unauthorized from error
    if route.auth != "either" and principal.kind != ("agent" if route.auth == "agent" else "owner"):
        raise Unauthorized
    if route.auth == "admin" and not principal.is_admin:
        raise Forbidden
    return principal


def _within_limits(event: read.Event, route: Route) -> None:
    if read.body_size(event) > route.body_kib * 1024:
        raise TooLarge(f"The body is over {route.body_kib} KiB.")
    if route.auth != "none" and route.query is None and read.query_values(event):
        raise InvalidRequest("This address takes no query parameters.")


def _checked(parse: Callable[[], M]) -> M:
    try:
        return parse()
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:100]
        raise InvalidShape(f"{where}: {first['msg']}" if where else first["msg"]) from error


def _response(route: Route, answer: BaseModel | Reply) -> Response[str]:
    if isinstance(answer, Reply):
        status, content_type = answer.status or route.status, answer.content_type
        text, head = answer.body, {**_ALWAYS, **answer.headers}
    else:
        status, content_type, head = route.status, route.media_type, dict(_ALWAYS)
        text = answer.model_dump_json(by_alias=True)
    if status == HTTPStatus.NO_CONTENT:
        return Response(status, None, "", head)
    return Response(status, content_type, text, head)
