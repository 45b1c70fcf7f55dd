"""The REQUEST authorizer as a handler: who is asking, or 401, and nothing about what they may do.

API Gateway gives 401 only for an exception whose text is exactly "Unauthorized"; any other one
becomes an authorizer failure, which the gateway responses turn into 503 (ruling 19). Results are
never cached, so the policy covers the stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from judgment.access.credentials import Presented
from judgment.access.sessions import CSRF_HEADER, BrowserRequest, session_of
from judgment.contract.routes import ROUTES, Auth
from judgment.entry import event as read
from judgment.entry import observability as seen
from judgment.kit.errors import Unauthorized, Unavailable

if TYPE_CHECKING:
    from judgment.contract.principal import Principal
    from judgment.entry.observability import Telemetry

_GATEWAYS_WORD = "Unauthorized"


class Authenticates(Protocol):
    """Says who is asking."""

    def authenticate(self, auth: Auth, presented: Presented) -> Principal:
        """See `judgment.access.credentials.Authenticator`."""
        ...


class AuthorizerDoor:
    """The authorizer of every route whose `auth` is not `none`."""

    def __init__(self, authenticator: Authenticates, telemetry: Telemetry):
        self._authenticator = authenticator
        self._telemetry = telemetry
        self._auth: dict[tuple[str, str], Auth] = {
            (route.method, route.path): route.auth for route in ROUTES
        }

    def __call__(self, event: read.Event, context: Any) -> dict[str, Any]:
        """Allow with the principal as context. Raises Exception("Unauthorized"), or Unavailable."""
        try:
            principal = self._authenticator.authenticate(self._wanted(event), _presented(event))
        except Unauthorized:
            self._telemetry.count(seen.CREDENTIAL_REJECTED)
            raise Exception(_GATEWAYS_WORD) from None
        except Unavailable as error:
            self._telemetry.count(seen.UNAVAILABLE)
            self._telemetry.failure(
                seen.UNAVAILABLE,
                error.__cause__ or error,
                correlation_id=read.correlation_id(event),
            )
            raise
        finally:
            self._telemetry.flush()
        return _allow(event, principal)

    def _wanted(self, event: read.Event) -> Auth:
        """What the matched route asks for; a route that is not ours asks for what nobody has."""
        method, path = cast("str", event["httpMethod"]), cast("str", event["resource"])
        return self._auth.get((method, path), self._auth.get(("ANY", path), "none"))


def _presented(event: read.Event) -> Presented:
    return Presented(
        authorization=read.headers(event, "Authorization"),
        session=session_of(read.headers(event, "Cookie")),
        browser=BrowserRequest(
            method=cast("str", event["httpMethod"]),
            origin=read.header(event, "Origin"),
            fetch_site=read.header(event, "Sec-Fetch-Site"),
            csrf_token=read.header(event, CSRF_HEADER),
        ),
    )


def _allow(event: read.Event, principal: Principal) -> dict[str, Any]:
    api, stage = cast("str", event["methodArn"]).split("/", 2)[:2]
    by_mcp = event["resource"] == "/mcp" or read.header(event, read.VIA_HEADER) == "mcp"
    return {
        "principalId": str(principal.user_id),
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Action": "execute-api:Invoke",
                    "Effect": "Allow",
                    "Resource": f"{api}/{stage}/*",
                }
            ],
        },
        "context": {
            **principal.to_context(),
            "via": "mcp" if by_mcp else "direct",
            "correlation_id": read.correlation_id(event),
        },
    }
