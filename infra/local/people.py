"""Tokens and agent keys for the seeded owners, made through the product's own API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import httpx

from infra.local.private import write_private

if TYPE_CHECKING:
    from infra.local.issuer import LocalIssuer
    from infra.local.places import Places

ADMIN = uuid5(UUID("6f5d2f1c-6a8a-4c0e-9d53-1d9a30f4b6a1"), "local admin")
_KEY_NAME = "local stack"
_GOOD = {200, 403}  # 403: the key is good and its owner's access is switched off


class KeyNotMinted(RuntimeError):
    """The API did not give a key; the message holds its answer."""


@dataclass(frozen=True)
class Person:
    """An owner as stack.json shows them."""

    user_id: UUID
    owner_token: str
    agent_key: str

    def shown(self) -> dict[str, str]:
        """The entry of stack.json."""
        return {
            "user_id": str(self.user_id),
            "owner_token": self.owner_token,
            "agent_key": self.agent_key,
        }


def people(
    api_url: str, owners: dict[str, UUID], issuer: LocalIssuer, places: Places
) -> dict[str, Person]:
    """Each owner with a fresh token, and the kept key if it still works, else a new one.

    Raises KeyNotMinted, httpx.HTTPError.
    """
    kept: dict[str, str] = json.loads(places.keys.read_text()) if places.keys.exists() else {}
    found: dict[str, Person] = {}
    with httpx.Client(base_url=api_url, timeout=30) as client:
        for name, user_id in owners.items():
            token = issuer.token(user_id)
            key = kept.get(name)
            if key is None or not _works(client, key):
                key = _minted(client, token)
            found[name] = Person(user_id, token, key)
    write_private(places.keys, json.dumps({name: who.agent_key for name, who in found.items()}))
    return found


def _works(client: httpx.Client, key: str) -> bool:
    answer = client.get("/api/agent/v1/profile", headers={"Authorization": f"Bearer {key}"})
    return answer.status_code in _GOOD


def _minted(client: httpx.Client, token: str) -> str:
    answer = client.post(
        "/api/v1/keys",
        json={"name": _KEY_NAME},
        headers={"Authorization": f"Bearer {token}"},
    )
    if answer.status_code != 201:
        raise KeyNotMinted(f"POST /api/v1/keys answered {answer.status_code}: {answer.text[:500]}")
    return answer.json()["key"]
