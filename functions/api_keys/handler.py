"""Three calls of `judgment.access.keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.api_keys.wiring import wire
from judgment.contract.keys import AgentKey, AgentKeyList, MintedKey, MintKeyRequest
from judgment.entry.http import HttpDoor, Request
from judgment.entry.opening import opened_on_first_call
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from judgment.access.keys import AgentKeys
    from judgment.entry.observability import Telemetry


def build(keys: AgentKeys, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""

    def mint(request: Request) -> MintedKey:
        wanted = request.body(MintKeyRequest)
        return keys.mint(request.principal.user_id, wanted, request.idempotency_key())

    def listed(request: Request) -> AgentKeyList:
        return keys.listed(request.principal.user_id)

    def revoke(request: Request) -> AgentKey:
        return keys.revoke(request.principal.user_id, parse_uuid(request.path["key_id"]))

    return HttpDoor(
        "api_keys",
        {
            "POST /api/v1/keys": mint,
            "GET /api/v1/keys": listed,
            "DELETE /api/v1/keys/{key_id}": revoke,
        },
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))
