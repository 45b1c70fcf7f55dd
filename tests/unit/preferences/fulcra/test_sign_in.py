"""Signing in is the package's: device flow, its credentials file, its lock, tokens that rotate."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import install_opener

import pytest
from fulcra_api.core import FulcraAPI
from fulcra_api.credentials_store import CredentialsFile

from judgment.kit.errors import Unavailable
from judgment.preferences.fulcra.port import SignInNeeded
from tests.architecture.source import ROOT
from tests.fakes.fulcra_login import DEVICE_GRANT, FulcraLogin

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.fulcra_server import FulcraServer
    from tests.unit.preferences.fulcra.hosts import Desk

pytestmark = pytest.mark.promise("P3-fulcra")


@pytest.fixture
def login(
    server: FulcraServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FulcraLogin]:
    with FulcraLogin(server.sessions, tmp_path) as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(running.certificate))
        install_opener(None)  # some Pythons keep the authorities of the first request
        yield running
    install_opener(None)


@pytest.fixture
def host(hosts: Callable[..., Desk], login: FulcraLogin) -> Desk:
    """A host whose access token has run out, with the means to renew it."""
    desk = hosts("laptop", domain=login.domain)
    desk.server.sessions.lifetime = -1.0
    desk.sign_in(renewable=True)
    desk.server.sessions.lifetime = 3600.0
    return desk


def held(desk: Desk) -> dict[str, Any]:
    return json.loads(desk.settings.credentials.read_text())


def test_the_device_flow_ends_in_credentials_that_open_the_account(
    hosts: Callable[..., Desk], login: FulcraLogin, server: FulcraServer
) -> None:
    desk = hosts("laptop", domain=login.domain)
    package = FulcraAPI(oidc_domain=login.domain, oidc_audience=server.audience)
    device, address, code, _, _ = package.oidc.get_device_code()
    assert address.endswith(code)
    with pytest.raises(HTTPError) as pending:
        package.oidc.get_token(DEVICE_GRANT, {"device_code": device})
    with pending.value as answer:
        assert json.loads(answer.read())["error"] == "authorization_pending"
    server.sessions.devices[device] = "approved"
    credentials = package.oidc.poll_for_token(device, timedelta(seconds=5), timedelta(0))
    CredentialsFile(desk.settings.credentials).save(credentials)
    assert desk.store().onboard().created


@pytest.mark.parametrize("ending", ["expired_token", "access_denied"])
def test_a_device_code_that_was_refused_opens_nothing(
    login: FulcraLogin, server: FulcraServer, ending: str
) -> None:
    before = dict(server.sessions.valid)
    package = FulcraAPI(oidc_domain=login.domain, oidc_audience=server.audience)
    device = package.oidc.get_device_code()[0]
    server.sessions.devices[device] = ending
    with pytest.raises(Exception, match=r"expired token|User cancelled"):
        package.oidc.poll_for_token(device, timedelta(seconds=5), timedelta(0))
    assert server.sessions.valid == before


def test_a_token_that_ran_out_is_renewed_and_kept_for_the_next_process(
    host: Desk, login: FulcraLogin
) -> None:
    before = held(host)
    host.store().onboard()
    assert login.refreshed == 1
    assert held(host)["refresh_token"] != before["refresh_token"]
    host.store().pull()
    assert login.refreshed == 1


def test_processes_that_find_the_token_run_out_together_spend_one_refresh_token(
    host: Desk, login: FulcraLogin, server: FulcraServer
) -> None:
    """Two that spent the same one would end the session for both."""
    code = (
        "import sys; from pathlib import Path\n"
        "from judgment.preferences.fulcra.client import Settings\n"
        "from judgment.preferences.fulcra.store import FulcraStore\n"
        "path, audience, domain = sys.argv[1:]\n"
        "store = FulcraStore.open(Settings(Path(path), audience, domain))\n"
        "sys.stdin.read()\n"
        "store.pull()\n"
    )
    arguments = [str(host.settings.credentials), server.audience, login.domain]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT / "shared"), "SSL_CERT_FILE": str(login.certificate)},
        )
        for _ in range(3)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert login.refreshed == 1


def test_a_session_that_was_ended_asks_to_sign_in(host: Desk, server: FulcraServer) -> None:
    server.sessions.end()
    store = host.store()
    with pytest.raises(SignInNeeded, match="fulcra auth login"):
        store.pull()


def test_a_login_service_that_is_down_is_an_outage_and_keeps_the_credentials(
    host: Desk, login: FulcraLogin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fulcra_api.oidc.REFRESH_RETRY_DELAY", 0)
    before = held(host)
    login.outage = 503
    with pytest.raises(Unavailable, match="out of reach") as caught:
        host.store().pull()
    assert not isinstance(caught.value, SignInNeeded)
    assert held(host) == before
    with warnings.catch_warnings():
        # The package drops the answers of earlier attempts without closing them.
        warnings.simplefilter("ignore", ResourceWarning)
        del caught
        gc.collect()
    login.outage = None
    assert host.store().pull().signals == ()


def test_a_token_that_ran_out_without_the_means_to_renew_it_asks_to_sign_in(
    host: Desk,
) -> None:
    host.server.sessions.lifetime = -1.0
    host.sign_in()
    with pytest.raises(SignInNeeded):
        host.store()


def test_every_request_says_who_asks_and_nothing_about_the_owner(
    hosts: Callable[..., Desk], server: FulcraServer
) -> None:
    hosts("laptop").store().onboard()
    agents = {asked.user_agent for asked in server.asked if not asked.path.startswith("/signed/")}
    [agent] = agents
    assert agent.startswith("fulcra-api/0.1.57")
    assert agent.endswith("judgment-prefs/1")
