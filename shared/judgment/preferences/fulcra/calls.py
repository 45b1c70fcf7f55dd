"""One call to the service: bounded in time, and every way of failing told as one of three.

The package waits without end for the API and says what went wrong in a dozen ways. Here a call
ends in an answer, in `Declined` (a 4xx about what was asked), in `SignInNeeded`, or in
`Unavailable`. No message holds a credential: of an answer only its `detail` is shown, escaped,
shortened and with anything like a token taken out.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, cast
from urllib.error import HTTPError

from judgment.kit.errors import Unavailable
from judgment.kit.quoting import escape
from judgment.kit.redaction import redact
from judgment.preferences.fulcra.port import Declined, NotOnboarded, SignInNeeded

DETAIL_CHARACTERS = 300
DETAIL_BYTES = 64 * 1024
LEAST_SECONDS = 0.05


@contextmanager
def asking(what: str, seconds: float) -> Generator[None]:
    """Do one call, `seconds` at most for each wait on the network.

    The bound is the process's default for sockets while the call runs, since the package takes
    none; a thread that opens a socket meanwhile has the same. Raises Declined, SignInNeeded,
    Unavailable; `what` completes "Fulcra declined ...".
    """
    from fulcra_api.oidc import FulcraAuthError, FulcraReauthRequired

    if seconds < LEAST_SECONDS:
        raise Unavailable(f"No time was left for {what}.")
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    except HTTPError as error:
        refusal = refusal_of(what, error)
        _let_go(error)
        raise refusal from error
    except FulcraReauthRequired as error:
        _let_go(error)
        raise SignInNeeded from error
    except FulcraAuthError as error:
        _let_go(error)
        raise Unavailable("The sign-in of Fulcra is out of reach.") from error
    except (OSError, HTTPException) as error:
        raise Unavailable(f"Fulcra is out of reach for {what}: {type(error).__name__}.") from error
    except (ValueError, KeyError, RecursionError) as error:
        raise Unavailable(f"Fulcra answered {what} in a form that is not known.") from error
    finally:
        socket.setdefaulttimeout(before)


def refusal_of(what: str, error: HTTPError) -> Unavailable:
    """What an error answer means: 401 and 403 a missing sign-in, 408, 429 and 5xx wait and retry,
    404 that the place is gone, any other 4xx that what was sent is declined."""
    status = error.code
    if status in (401, 403):
        return SignInNeeded()
    if status == 404:
        return NotOnboarded(f"Fulcra has no place for {what}: run `prefs onboard`.")
    if 400 <= status < 500 and status not in (408, 429):
        return Declined(what, status, detail_of(error))
    return Unavailable(f"Fulcra cannot do {what} at the moment ({status}).")


def detail_of(error: HTTPError) -> str:
    """The reason in an error answer, safe to show; empty when it gives none we can read."""
    try:
        body = json.loads(error.read(DETAIL_BYTES))
    except (OSError, HTTPException, ValueError, RecursionError):
        return ""
    detail: Any = cast("dict[str, Any]", body).get("detail") if isinstance(body, dict) else None
    if isinstance(detail, list):
        detail = "; ".join(_one(item) for item in cast("list[object]", detail)[:5])
    return shown(detail) if isinstance(detail, str) else ""


def shown(text: str) -> str:
    """Text of somebody else, made fit for a message."""
    return escape(redact(text))[:DETAIL_CHARACTERS]


def _let_go(error: BaseException) -> None:
    """Close the answers that an error, or one before it, was made of: the package leaves them."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, HTTPError):
            seen.close()
        seen = seen.__context__


def _one(item: object) -> str:
    if isinstance(item, dict):
        found = cast("dict[str, object]", item)
        return str(found.get("msg", ""))
    return str(item)
