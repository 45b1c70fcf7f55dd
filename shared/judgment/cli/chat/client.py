"""The routes of messages, called as the owner. Their refusals say `{"error": …}`; those of the
gateway before them are in the contract's form."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from judgment.cli.api import TIMEOUT_SECONDS, address_of, refusal_of
from judgment.cli.chat.events import Received, read_events
from judgment.cli.chat.violation import ShapeViolation
from judgment.contract import conversations as wire
from judgment.contract.errors import Problem
from judgment.contract.messages import Decision, GatewayError
from judgment.kit.errors import InvalidRequest, Refusal, Unauthorized, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

M = TypeVar("M", bound=BaseModel)

CLIENT = "terminal"
SILENCE_SECONDS = 60.0
"""Longer than four heartbeats: whoever is silent for so long has gone."""
_ID = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True)
class Answer:
    """The head of a stream. `notice` is the warning that the context runs full, if it does."""

    conversation_id: str
    notice: str | None
    events: Iterator[Received]
    """To be run once, by the thread that took the answer."""
    hang_up: Callable[[], None]
    """Ends it from any thread."""


class Gateway:
    """One method a route. Every one raises the refusal it is answered with, and Unavailable."""

    def __init__(self, base: str, token: str):
        self._base = base
        self._headers = {"Authorization": f"Bearer {token}"}

    @contextmanager
    def say(
        self, content: str, conversation_id: str | None, project: str | None
    ) -> Generator[Answer]:
        """Post a message. Raises ShapeViolation too, also while its events are run."""
        import httpx

        metadata = {"client": CLIENT} | ({"project": project} if project else {})
        headers = {
            **self._headers,
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        if conversation_id is not None:
            headers["X-Conversation-Id"] = checked_id(conversation_id)
        with (
            _named(address := address_of(self._base, "/message")),
            httpx.stream(
                "POST",
                address,
                content=json.dumps({"content": content, "metadata": metadata}).encode(),
                headers=headers,
                timeout=httpx.Timeout(TIMEOUT_SECONDS, read=SILENCE_SECONDS),
                follow_redirects=False,
            ) as answer,
        ):
            if answer.status_code != 200:
                answer.read()
                raise _refusal(answer)
            yield _head(answer, conversation_id)

    def stop(self, conversation_id: str) -> None:
        """Ask that the turn which runs there end."""
        path = f"/conversations/{quote(checked_id(conversation_id), safe='')}/stop"
        self._asked("POST", path, wire.StopRequested)

    def approvals(self) -> list[wire.OpenApproval]:
        """What is not settled, the oldest first."""
        return self._asked("GET", "/approvals", wire.OpenApprovals).approvals

    def decide(self, request_id: str, decision: Decision) -> None:
        """Answer a request."""
        path = f"/approvals/{quote(request_id, safe='')}"
        self._asked("POST", path, wire.ApprovalAnswer, {"decision": decision})

    def pages(self) -> list[wire.Project]:
        """The owner's pages."""
        return self._asked("GET", "/projects", wire.ProjectList).projects

    def _asked(self, method: str, path: str, model: type[M], body: Any = None) -> M:
        import httpx

        with _named(address := address_of(self._base, path)):
            answer = httpx.request(
                method,
                address,
                json=body,
                headers=self._headers,
                timeout=TIMEOUT_SECONDS,
                follow_redirects=False,
            )
        if not answer.is_success:
            raise _refusal(answer)
        try:
            return model.model_validate_json(answer.content, strict=True)
        except ValidationError as error:
            raise ShapeViolation(f"{method} {path}", "its answer has another shape") from error


def checked_id(conversation_id: str) -> str:
    """The id, if a header can carry it. Raises InvalidRequest."""
    if _ID.fullmatch(conversation_id) is None:
        raise InvalidRequest("This is no id of a conversation.")
    return conversation_id


@contextmanager
def _named(address: httpx.URL) -> Generator[None]:
    """Trouble of the line as Unavailable."""
    import httpx

    try:
        yield
    except httpx.ReadTimeout as error:
        raise Unavailable(f"{address.host} has gone silent") from error
    except httpx.RemoteProtocolError as error:
        raise Unavailable(f"{address.host} broke off") from error
    except (httpx.HTTPError, httpx.StreamError, UnicodeError) as error:
        raise Unavailable(f"{address.host} cannot be reached: {type(error).__name__}") from error


def _head(answer: httpx.Response, asked_for: str | None) -> Answer:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip()
    conversation_id = answer.headers.get("x-conversation-id")
    if kind != "text/event-stream":
        raise ShapeViolation("stream", "it is not of events")
    if not conversation_id or asked_for not in (None, conversation_id):
        raise ShapeViolation("stream", "x-conversation-id is missing or another")
    return Answer(
        conversation_id,
        answer.headers.get("x-context-window-message"),
        _events(answer, conversation_id),
        lambda: _hang_up(answer),
    )


def _events(answer: httpx.Response, conversation_id: str) -> Iterator[Received]:
    for received in read_events(answer.iter_bytes()):
        event = received.event
        if event.type == "done" and event.conversation_id != conversation_id:
            raise ShapeViolation("done", "it names another conversation than the header")
        yield received


def _hang_up(answer: httpx.Response) -> None:
    """Wake whoever reads: closing a socket does not, shutting it down does."""
    line = answer.extensions.get("network_stream")
    found = line.get_extra_info("socket") if line is not None else None
    if found is not None:
        with suppress(OSError):
            found.shutdown(socket.SHUT_RDWR)


def _refusal(answer: httpx.Response) -> Refusal:
    host, status = answer.request.url.host, answer.status_code
    if status == 401:
        return Unauthorized("The owner's token is missing, wrong or no longer valid.")
    with suppress(ValidationError):
        return refusal_of(status, GatewayError.model_validate_json(answer.content).error)
    with suppress(ValidationError):
        problem = Problem.model_validate_json(answer.content, extra="ignore")
        return refusal_of(status, problem.message, problem.retry_after_seconds)
    return Unavailable(f"{host} gave an unknown answer ({status})")
