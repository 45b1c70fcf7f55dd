"""Calls of the API with a key, and its refusals as the refusals of this product.

httpx is loaded with the first call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from judgment.contract.errors import Problem
from judgment.kit.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    Refusal,
    TooLarge,
    Unauthorized,
    Unavailable,
)

if TYPE_CHECKING:
    import httpx

    from judgment.cli.wiring import Settings

M = TypeVar("M", bound=BaseModel)

TIMEOUT_SECONDS = 30.0
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_REFUSALS: dict[int, type[Refusal]] = {
    kind.status: kind
    for kind in (
        InvalidRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        Conflict,
        TooLarge,
        RateLimited,
    )
}


@dataclass(frozen=True)
class Call:
    """One request: `query` values that are None are left out; `body` is sent as JSON."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Any = None
    seconds: float = TIMEOUT_SECONDS


def get(settings: Settings, path: str, model: type[M]) -> M:
    """What the API answers at `path`; raises as `send` does."""
    return send(settings.sync_api_url, settings.sync_api_key, Call("GET", path), model)


def send(base: str, credential: str, call: Call, model: type[M]) -> M:
    """The answer of one call, as `model`. Raises the refusal that the API gave, and Unavailable
    when it cannot be reached or does not speak as agreed."""
    host, answer = _sent(base, credential, call)
    if answer.status_code in (200, 201):
        try:
            return model.model_validate_json(answer.content)
        except ValidationError as error:
            raise _unknown(host, answer) from error
    raise _refusal(host, answer)


def order(base: str, credential: str, call: Call) -> None:
    """A call that is answered without a body (204); raises as `send` does."""
    host, answer = _sent(base, credential, call)
    if answer.status_code != 204:
        raise _refusal(host, answer)


def read(base: str, credential: str, call: Call) -> bytes:
    """What a call answers, as it is, for a route that answers no JSON document; raises as `send`
    does."""
    host, answer = _sent(base, credential, call)
    if answer.status_code != 200:
        raise _refusal(host, answer)
    return answer.content


def address_of(base: str, path: str) -> httpx.URL:
    """Where a call with a credential goes: over plain HTTP to this machine only.

    Raises InvalidRequest for what is no address, Unavailable for one that is not safe.
    """
    import httpx

    try:
        address = httpx.URL(base.rstrip("/") + path)
    except httpx.InvalidURL as error:
        raise InvalidRequest("The API's address is not a URL.") from error
    if address.scheme != "https" and address.host not in _LOOPBACK:
        raise Unavailable("The API's address must begin with https://")
    return address


def refusal_of(status: int, message: str, retry_after_seconds: int | None = None) -> Refusal:
    """The refusal that a status means; one without a name of its own is Unavailable."""
    kind = _REFUSALS.get(status, Unavailable)
    return kind(message, retry_after_seconds=retry_after_seconds)


def _sent(base: str, credential: str, call: Call) -> tuple[str, httpx.Response]:
    """The host and what it answered. Redirects are not followed."""
    import httpx

    if call.seconds <= 0:
        raise Unavailable("There was no time left to send it.")
    address = address_of(base, call.path)
    headers = {"Authorization": f"Bearer {credential}", "Accept": "application/json"}
    content = None
    if call.body is not None:
        headers["Content-Type"] = "application/json"
        content = json.dumps(call.body, allow_nan=False).encode()
    query = {name: value for name, value in (call.query or {}).items() if value is not None}
    try:
        answer = httpx.request(
            call.method,
            address,
            params=query or None,
            headers=headers,
            content=content,
            timeout=min(call.seconds, TIMEOUT_SECONDS),
            follow_redirects=False,
        )
    except (httpx.HTTPError, UnicodeError) as error:
        raise Unavailable(f"{address.host} cannot be reached: {type(error).__name__}") from error
    return address.host, answer


def _refusal(host: str, answer: httpx.Response) -> Refusal:
    try:
        problem = Problem.model_validate_json(answer.content, extra="ignore")
    except ValidationError:
        return _unknown(host, answer)
    message = f"{problem.message} ({problem.code})"
    return refusal_of(answer.status_code, message, problem.retry_after_seconds)


def _unknown(host: str, answer: httpx.Response) -> Unavailable:
    return Unavailable(f"{host} gave an unknown answer ({answer.status_code})")
