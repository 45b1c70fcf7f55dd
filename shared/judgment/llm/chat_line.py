"""One provider on the line for one answer of a conversation, through the OpenAI SDK.

As in `line`, no exception of a library leaves here. A refusal comes as Refused, with what the
provider said for `trouble_words` to look at and nobody to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import httpx
import openai

from judgment.llm.chat_stream import SAID_CHARACTERS, StreamFailed, objects
from judgment.llm.quiet import quiet
from judgment.llm.streaming_transport import Listener, NobodyListens, StreamingTransport
from judgment.llm.transport import AnswerTooLarge, Until
from judgment.llm.trouble_words import Failure

if TYPE_CHECKING:
    from judgment.llm.calling import Reach
    from judgment.llm.model import FailureCode


class Refused(Exception):
    """The provider answered with an error, or not at all."""

    def __init__(self, code: FailureCode, failure: Failure):
        self.code: FailureCode = code
        self.failure = failure
        super().__init__(code)

    @property
    def of_the_request(self) -> bool:
        """Whether the provider did not take the request as it is."""
        return self.failure.status in (400, 404, 405, 415, 422, 500, 501)


class ChatLine:
    """Requests to one provider with one key; use as a context manager, from one thread."""

    def __init__(self, reach: Reach, stopped: Callable[[], bool], monotonic: Callable[[], float]):
        self._until = Until(monotonic)
        with quiet():
            listener = Listener(stopped, monotonic)
            transport = StreamingTransport(reach.key, self._until, reach.context, listener)
            self._http = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)
            self._sdk = openai.OpenAI(
                api_key="put in by the transport",
                base_url=reach.base_url,
                http_client=self._http,
                max_retries=0,
                timeout=None,
            )

    def __enter__(self) -> ChatLine:
        return self

    def __exit__(self, *_: object) -> None:
        with quiet():
            self._http.close()

    def objects(
        self, body: Mapping[str, Any], patience: Callable[[], float]
    ) -> Iterator[Mapping[str, Any]]:
        """The objects of the answer as they come; `patience` is how many seconds the next may take.

        Raises Refused, and NobodyListens when `stopped` said so.
        """
        try:
            yield from objects(self._parts(body, patience))
        except (Refused, NobodyListens, GeneratorExit):
            raise
        except StreamFailed as failed:
            raise Refused("provider_error", failed.failure) from None
        except (openai.APITimeoutError, httpx.TimeoutException):
            raise Refused("timeout", Failure("timeout")) from None
        except openai.APIStatusError as error:
            raise _by_status(error.response) from None
        except (openai.OpenAIError, httpx.HTTPError, AnswerTooLarge) as error:
            raise _broken(error) from None

    def _parts(self, body: Mapping[str, Any], patience: Callable[[], float]) -> Iterator[bytes]:
        """The answer's bytes. What is quiet ends with each step: a generator may be closed by
        another thread than it was run in."""
        self._until.set(patience())
        with quiet():
            asked = cast("Any", self._sdk).chat.completions.with_streaming_response
            answer = asked.create(**body)
            response = answer.__enter__().http_response
        try:
            parts = response.iter_raw()
            while True:
                with quiet():
                    part = next(parts, None)
                if part is None:
                    return
                yield part
                self._until.set(patience())
        finally:
            with quiet():
                answer.__exit__(None, None, None)


def _by_status(response: httpx.Response) -> Refused:
    status = response.status_code
    code: FailureCode = "provider_error"
    if status in (401, 403):
        code = "unauthorized"
    elif status == 429:
        code = "rate_limited"
    return Refused(code, Failure(response.text[:SAID_CHARACTERS], status))


def _broken(error: Exception) -> Refused:
    listening = error.__cause__
    if isinstance(listening, NobodyListens):
        raise listening
    if isinstance(error, AnswerTooLarge) or isinstance(listening, AnswerTooLarge):
        return Refused("too_large", Failure("too large"))
    if isinstance(error, (openai.APIConnectionError, httpx.HTTPError)):
        return Refused("unreachable", Failure("connect: the line broke off"))
    return Refused("provider_error", Failure("unreadable"))
