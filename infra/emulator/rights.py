"""Whether each door's role may do what its catalogue row grants, and is refused all else.

Needs an emulator that evaluates IAM policies. Each probe is a harmless call that one grant allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from infra.catalogue import Door, Grant

Client = Callable[[str], Any]
_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError"}


class RightsWrong(AssertionError):
    """A role may do more or less than its row says."""


def _count(client: Client) -> None:
    client("dynamodb").update_item(
        TableName="judgment-rate-limits",
        Key={"pk": {"S": "rights"}},
        UpdateExpression="ADD uses :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )


def _uncount(client: Client) -> None:
    client("dynamodb").delete_item(TableName="judgment-rate-limits", Key={"pk": {"S": "rights"}})


def _tell(client: Client) -> None:
    entry = {"Source": "rights", "DetailType": "x", "Detail": "{}", "EventBusName": "judgment"}
    client("events").put_events(Entries=[entry])


def _read_secret(client: Client) -> None:
    client("secretsmanager").get_secret_value(SecretId="judgment/session")


def _read_model_key(client: Client) -> None:
    client("secretsmanager").get_secret_value(SecretId="judgment/models/rights")


def _granted(grant: Grant) -> Callable[[Door], bool]:
    return lambda door: grant in door.grants


PROBES: dict[str, tuple[Callable[[Client], None], Callable[[Door], bool]]] = {
    "count a use": (_count, _granted("rate_limits:update")),
    "forget a use": (_uncount, lambda door: False),
    "put an event": (_tell, _granted("events:put")),
    "read the session secret": (_read_secret, _granted("session_secret:read")),
    "read a model's key": (_read_model_key, _granted("model_secrets:read")),
}
"""What is tried, and whether a door's row allows it."""


def check_rights(door: Door, client: Client) -> int:
    """Try every probe with the door's own credentials; how many. Raises RightsWrong."""
    for name, (call, should) in PROBES.items():
        allowed = _is_allowed(call, client)
        if allowed is not should(door):
            word = "may" if allowed else "may not"
            raise RightsWrong(f"{door.name} {word} {name}; its grants are {door.grants}")
    return len(PROBES)


def _is_allowed(call: Callable[[Client], None], client: Client) -> bool:
    try:
        call(client)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _DENIED:
            return False
        if code == "ResourceNotFoundException":
            return True  # it was let in, and there is none
        raise
    return True
