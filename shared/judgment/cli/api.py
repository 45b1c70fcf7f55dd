"""One GET of the agent API with a key, and its refusals as one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from judgment.contract.errors import Problem

if TYPE_CHECKING:
    from judgment.cli.wiring import Settings

M = TypeVar("M", bound=BaseModel)

TIMEOUT_SECONDS = 30.0
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class CallFailed(Exception):
    """The API refused or could not be reached; the text is for a person's eyes."""


def get(settings: Settings, path: str, model: type[M]) -> M:
    """What the API answers at `path`. Raises CallFailed.

    A key is sent over plain HTTP to this machine only, and redirects are not followed with it.
    """
    import httpx

    address = httpx.URL(settings.sync_api_url.rstrip("/") + path)
    if address.scheme != "https" and address.host not in _LOOPBACK:
        raise CallFailed("The API's address must begin with https://")
    try:
        answer = httpx.get(
            address,
            headers={"Authorization": f"Bearer {settings.sync_api_key}"},
            timeout=TIMEOUT_SECONDS,
            follow_redirects=False,
        )
    except httpx.HTTPError as error:
        raise CallFailed(f"{address.host} cannot be reached: {type(error).__name__}") from error
    try:
        if answer.status_code == 200:
            return model.model_validate_json(answer.content)
        problem = Problem.model_validate_json(answer.content, extra="ignore")
    except ValidationError as error:
        raise CallFailed(f"{address.host} gave an unknown answer ({answer.status_code})") from error
    raise CallFailed(f"{problem.message} ({problem.code})")
