"""The recipe for agents without a shell, request by request as its page prints them."""

from __future__ import annotations

import json
import re
import ssl
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from judgment.preferences.compiling import compile_signals, encoded
from judgment.preferences.signals import payload_of, signal_id
from tests.fakes.fulcra_login import FulcraLogin
from tests.skills.skill_pages import SKILL, Asked, requests
from tests.unit.preferences.fulcra.hosts import NOW, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from judgment.preferences.model import Signal
    from tests.fakes.fulcra_server import FulcraServer

PAGE = SKILL / "references/fulcra-http.md"
HOSTS = {"fulcra.us.auth0.com", "api.fulcradynamics.com"}
pytestmark = pytest.mark.promise("P3-skill", "P3-fulcra", "001-fulcra")


class Agent:
    """Sends what the page prints, with words in capitals replaced by what it has learnt."""

    def __init__(self, server: FulcraServer, login: FulcraLogin):
        self._roots = {"/oauth": f"https://{login.domain}"}
        self._api = server.url
        self._context = ssl.create_default_context(cafile=str(login.certificate))
        self.known: dict[str, str] = {}

    def send(self, asked: Asked, **changes: str) -> Any:
        """The answer's JSON; None for an answer without."""
        root = next((r for p, r in self._roots.items() if asked.path.startswith(p)), self._api)
        query = urllib.parse.urlencode({**asked.query, **changes})
        url = root + self._filled(asked.path) + (f"?{query}" if query else "")
        headers = {name: self._filled(value) for name, value in asked.headers.items()}
        data = self._filled(asked.body).strip().encode() if asked.body else None
        request = urllib.request.Request(url, data, headers, method=asked.method)
        context = self._context if url.startswith("https") else None
        with urllib.request.urlopen(request, context=context) as answer:
            return json.loads(answer.read())

    def _filled(self, text: str) -> str:
        for word, value in self.known.items():
            text = text.replace(word, value)
        return text


@pytest.fixture
def agent(server: FulcraServer, tmp_path: Path) -> Any:
    with FulcraLogin(server.sessions, tmp_path) as login:
        yield Agent(server, login)


def test_the_page_as_it_is_printed_signs_in_reads_and_keeps(
    agent: Agent, server: FulcraServer, hosts: Callable[..., Desk], signal: Callable[..., Signal]
) -> None:
    store = hosts("laptop").store()
    place = store.onboard().definition_id
    document = compile_signals([signal("a.b")], NOW).documents[None]
    store.publish({"compiled.json": encoded(document)})
    device, poll, renew, find, load, keep = requests(PAGE)

    code = agent.send(device)
    server.sessions.devices[code["device_code"]] = "approved"
    agent.known["DEVICE_CODE"] = code["device_code"]
    agent.known["REFRESH_TOKEN"] = agent.send(poll)["refresh_token"]
    agent.known["ACCESS_TOKEN"] = agent.send(renew)["access_token"]

    [compiled] = agent.send(find)["files"]
    agent.known["FILE_ID"] = compiled["id"]
    assert agent.send(load) == document
    [meta] = agent.send(find, name="meta.json")["files"]
    agent.known["FILE_ID"] = meta["id"]
    agent.known["EVENT_TYPE"] = agent.send(load)["event_type"]
    assert agent.known["EVENT_TYPE"] == place

    payload = json.loads(json.loads(keep.body)["payload"])
    agent.known["RECORD_ID"] = signal_id(payload)
    for _ in range(2):
        assert agent.send(keep)["upload_id"]
    [kept] = hosts("desktop").store().pull().signals
    assert (kept.id, kept.aliases) == (agent.known["RECORD_ID"], ())
    assert payload_of(kept) == payload
    assert len(server.account.records) == 1


def test_a_statement_with_a_random_id_is_known_by_that_too(
    agent: Agent, server: FulcraServer, hosts: Callable[..., Desk]
) -> None:
    desk = hosts("laptop")
    keep = requests(PAGE)[-1]
    agent.known = {
        "EVENT_TYPE": desk.store().onboard().definition_id,
        "ACCESS_TOKEN": desk.sign_in()["access_token"],
        "RECORD_ID": "1f0e7b5e-9f3f-4a44-8a5e-6d6ad3f1c0de",
    }
    agent.send(keep)
    agent.send(keep)
    [kept] = desk.store().pull().signals
    assert kept.aliases == ("1f0e7b5e-9f3f-4a44-8a5e-6d6ad3f1c0de",)


def test_the_page_names_our_namespace_the_packages_client_and_no_other_host() -> None:
    from fulcra_api import core

    from judgment.preferences.signals import NAMESPACE

    text = PAGE.read_text(encoding="utf-8")
    assert str(NAMESPACE) in text
    assert core.FULCRA_OIDC_CLIENT_ID in text
    assert set(re.findall(r"https://([^/\s]+)/", text)) == HOSTS
    assert core.FULCRA_OIDC_AUDIENCE in text
