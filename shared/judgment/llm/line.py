"""One provider on the line: a request by the OpenAI SDK, and what became of it as a plain value.

No exception of a library leaves here, because their texts quote requests and answers. The SDK's own
retries are off; who asks decides what is worth another attempt.
"""

from __future__ import annotations

import email.utils
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast

import httpx
import openai

from judgment.llm.quiet import quiet
from judgment.llm.transport import AnswerTooLarge, BoundedTransport, Until

if TYPE_CHECKING:
    import ssl

    from judgment.llm.model import FailureCode

Method = Literal["chat", "embeddings"]
_SCHEMA_WORDS = ("response_format", "json_schema", "structured output", "structured_output")


@dataclass(frozen=True)
class Received:
    """A JSON object that came with status 200."""

    body: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Trouble:
    """No JSON object came. `no_schemas`: the provider does not take an answer's schema."""

    code: FailureCode
    again: bool = False
    retry_after_seconds: float | None = None
    no_schemas: bool = False


class Line:
    """Requests to one provider with one key; use as a context manager, from one thread."""

    def __init__(
        self,
        base_url: str,
        key: str | None,
        context: ssl.SSLContext | None,
        monotonic: Callable[[], float] = time.monotonic,
    ):
        self._until = Until(monotonic)
        with quiet():
            transport = BoundedTransport(key, self._until, context)
            self._http = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)
            self._sdk = openai.OpenAI(
                api_key="put in by the transport",
                base_url=base_url,
                http_client=self._http,
                max_retries=0,
                timeout=None,
            )

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        with quiet():
            self._http.close()

    def post(self, method: Method, body: Mapping[str, Any], seconds: float) -> Received | Trouble:
        """Send the body and wait for the answer, so many seconds and no longer."""
        self._until.set(seconds)
        with quiet():
            try:
                answer = self._send(method, dict(body))
            except openai.APITimeoutError:
                return Trouble("timeout", again=True)
            except openai.APIStatusError as error:
                return _by_status(error.response)
            except openai.APIConnectionError as error:
                if isinstance(error.__cause__, AnswerTooLarge):
                    return Trouble("too_large")
                return Trouble("unreachable", again=True)
            except openai.OpenAIError:
                return Trouble("provider_error")
            return _read(answer)

    def _send(self, method: Method, body: dict[str, Any]) -> bytes:
        sdk = cast("Any", self._sdk)  # its own types want each key of a body as a parameter
        asked = sdk.chat.completions if method == "chat" else sdk.embeddings
        return asked.with_raw_response.create(**body).http_response.content


def _read(answer: bytes) -> Received | Trouble:
    try:
        body: Any = json.loads(answer)
    except (ValueError, RecursionError):
        return Trouble("provider_error")
    if not isinstance(body, dict):
        return Trouble("provider_error")
    known = cast("dict[str, Any]", body)
    if "choices" not in known and isinstance(known.get("error"), dict):
        return _trouble(known["error"].get("code"), None, "")  # a gateway's error with status 200
    return Received(known)


def _by_status(response: httpx.Response) -> Trouble:
    wait = retry_after(response.headers.get("retry-after"))
    return _trouble(response.status_code, wait, response.text[:20_000].lower())


def _trouble(status: object, wait: float | None, said: str) -> Trouble:
    if status in (401, 403):
        return Trouble("unauthorized")
    if status == 429:
        return Trouble("rate_limited", again=True, retry_after_seconds=wait)
    if status == 408 or (isinstance(status, int) and 500 <= status < 600):
        return Trouble("provider_error", again=True, retry_after_seconds=wait)
    no_schemas = status in (400, 422) and any(word in said for word in _SCHEMA_WORDS)
    return Trouble("provider_error", no_schemas=no_schemas)


def retry_after(
    text: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> float | None:
    """Seconds until another attempt, from the header `Retry-After`; None where it says nothing."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(text)
        except ValueError:
            return None
        at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (at - now()).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
