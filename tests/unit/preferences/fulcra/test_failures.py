"""What goes wrong on the way is said, keeps what waits, ends in time, and tells no credential."""

from __future__ import annotations

import io
import json
import logging
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.kit.errors import Unavailable
from judgment.preferences.fulcra.port import SignInNeeded
from judgment.preferences.outbox import Outbox
from tests.fakes.fulcra_login import SECRET
from tests.fakes.fulcra_server import FulcraServer, Trouble
from tests.unit.preferences.fulcra.hosts import NOW, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from judgment.preferences.fulcra.store import FulcraStore
    from judgment.preferences.model import Signal

pytestmark = pytest.mark.promise("P3-fulcra-outbox")
Make = Callable[..., "Signal"]
INGEST = "/ingest/v1/record"
PLACE = "Event/00000000-0000-4000-8000-000000000000"


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path / "root", lambda: NOW)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "fulcra auth login"),
        (403, "fulcra auth login"),
        (404, "prefs onboard"),
        (405, "declined signals (405)"),
        (408, "at the moment (408)"),
        (429, "at the moment (429)"),
        (500, "at the moment (500)"),
        (503, "at the moment (503)"),
        (None, "out of reach"),
    ],
)
def test_what_is_not_the_records_fault_keeps_it_waiting_and_says_what_helps(
    store: FulcraStore,
    signal: Make,
    server: FulcraServer,
    outbox: Outbox,
    status: int | None,
    said: str,
) -> None:
    outbox.add([signal("a.b"), signal("a.c")])
    server.trouble.append(Trouble(INGEST, status))
    held = outbox.flush(store, Deadline.after(60))
    assert (held.sent, held.rejected, held.waiting) == (0, {}, 2)
    assert said in (held.trouble or "")
    assert outbox.dead() == []
    server.trouble.clear()
    assert outbox.flush(store, Deadline.after(60)).sent == 2
    assert len(store.pull().signals) == 2


@pytest.mark.promise("P3-defect-05")
@pytest.mark.parametrize("status", [400, 409, 413, 422])
def test_what_is_the_records_fault_is_a_dead_letter_and_no_success(
    store: FulcraStore, signal: Make, server: FulcraServer, outbox: Outbox, status: int
) -> None:
    outbox.add([signal("a.b")])
    server.trouble.append(Trouble(INGEST, status))
    done = outbox.flush(store, Deadline.after(60))
    assert (done.sent, done.waiting) == (0, 0)
    [letter] = outbox.dead()
    assert letter.reason == f"Fulcra declined signals ({status}): injected"
    asked = server.count("POST", INGEST)
    outbox.flush(store, Deadline.after(60))
    assert server.count("POST", INGEST) == asked


def test_an_answer_that_got_lost_is_sent_again_and_is_there_once(
    store: FulcraStore, signal: Make, server: FulcraServer, outbox: Outbox
) -> None:
    outbox.add([signal("a.b")])
    server.trouble.append(Trouble(INGEST, times=1, after=True))
    assert outbox.flush(store, Deadline.after(60)).waiting == 1
    assert len(server.account.records) == 1
    assert outbox.flush(store, Deadline.after(60)).sent == 1
    assert len(server.account.records) == 1


def test_halving_that_an_outage_interrupts_keeps_what_it_has_learnt(
    store: FulcraStore, signal: Make, server: FulcraServer, outbox: Outbox
) -> None:
    outbox.add([signal(f"a.k{number}") for number in range(4)])
    server.trouble.append(Trouble(INGEST, 422, times=1))
    accept = iter([False, True])
    real = server.account.ingest

    def ingest(*arguments: Any) -> str:
        from tests.fakes.fulcra_account import Refused

        if next(accept, False):
            raise Refused(503, "later")
        return real(*arguments)

    server.account.ingest = ingest  # type: ignore[method-assign]
    done = outbox.flush(store, Deadline.after(60))
    assert (done.sent, done.waiting) == (2, 2)
    assert done.trouble == "Fulcra cannot do signals at the moment (503)."


def test_a_server_that_never_answers_ends_with_the_deadline(
    hosts: Callable[..., Desk], signal: Make, server: FulcraServer, outbox: Outbox
) -> None:
    place = hosts("laptop").store().onboard().definition_id
    outbox.add([signal("a.b")])
    server.trouble.append(Trouble("/data/v1/catalog", silent=True))
    done = outbox.flush(hosts("laptop").store(place), Deadline.after(0.3))
    assert (done.sent, done.waiting) == (0, 1)
    assert "out of reach" in (done.trouble or "")


def test_a_call_leaves_the_processes_own_waiting_time_as_it_was(
    store: FulcraStore, server: FulcraServer
) -> None:
    import socket

    assert socket.getdefaulttimeout() is None
    server.trouble.append(Trouble("/user/", 500))
    with pytest.raises(Unavailable):
        store.pull()
    assert socket.getdefaulttimeout() is None


def test_nobody_listening_is_an_outage(
    hosts: Callable[..., Desk], signal: Make, outbox: Outbox
) -> None:
    with FulcraServer() as gone:
        desk = hosts("laptop", audience=gone.audience)
    outbox.add([signal("a.b")])
    done = outbox.flush(desk.store(PLACE), Deadline.after(60))
    assert (done.waiting, done.sent) == (1, 0)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", "{}", '{"access_token": null}', '{"access_token": 1.5}']
)
def test_credentials_that_cannot_be_used_ask_to_sign_in(desk: Desk, content: str) -> None:
    desk.settings.credentials.write_text(content)
    with pytest.raises(SignInNeeded, match="fulcra auth login"):
        desk.store()


def test_no_credentials_ask_to_sign_in(desk: Desk) -> None:
    desk.settings.credentials.unlink()
    with pytest.raises(SignInNeeded, match="fulcra auth login"):
        desk.store()


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble("/", 401),
        Trouble("/", 403),
        Trouble("/", 422, body=json.dumps({"detail": f"bearer eyJhbGciOiJub.eyJmdWxj.{SECRET}"})),
        Trouble("/", 500, body=SECRET),
        Trouble("/"),
        Trouble("/", 200, body=SECRET),
    ],
)
def test_no_failure_tells_a_credential(
    desk: Desk,
    signal: Make,
    server: FulcraServer,
    outbox: Outbox,
    trouble: Trouble,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fulcra_api.oidc.REFRESH_RETRY_DELAY", 0)
    caplog.set_level(logging.DEBUG)
    tokens = desk.sign_in(renewable=True)
    server.trouble.append(trouble)
    outbox.add([signal("a.b")])
    store = desk.store(PLACE)
    told = [repr(store), str(vars(store))]
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        told.append(repr(outbox.flush(store, Deadline.after(60))))
        for act in (store.pull, store.onboard, lambda: store.publish({"compiled.json": "{}"})):
            with pytest.raises(Unavailable) as caught:
                act()
            told += [str(caught.value), "".join(traceback.format_exception(caught.value))]
    files = [path.read_text() for path in outbox.folder.rglob("*") if path.is_file()]
    everything = "\n".join([*told, *files, caplog.text, said.getvalue()])
    for secret in (tokens["access_token"], tokens["refresh_token"], SECRET):
        assert secret not in everything


@pytest.mark.promise("P3-fulcra", "P3-refuse")
@pytest.mark.parametrize("status", [200, 422, 500])
@pytest.mark.parametrize(
    "body",
    ["", "null", "5", '"text"', "[]", "[5]", "{}", "[" * 60_000, '{"files":5}', '{"detail":[[1]]}',
     '{"id":7}', '[{"id":null}]', '{"userid":null}', '{"files":[{}]}', "\xff\xfe", "NaN", "1e999"],
    ids=lambda body: body[:20],
)  # fmt: skip
@pytest.mark.parametrize("place", ["/", "/data", "/ingest", "/input", "/user"])
def test_whatever_is_answered_ends_in_an_answer_or_is_out_of_reach(
    desk: Desk, signal: Make, server: FulcraServer, outbox: Outbox, status: int, body: str,
    place: str,
) -> None:  # fmt: skip
    """And what waits is sent, dead or waiting, never gone."""
    server.trouble.append(Trouble(place, status, body=body))
    outbox.add([signal("a.b")])
    store = desk.store(PLACE)
    done = outbox.flush(store, Deadline.after(60))
    assert done.sent + done.waiting + len(done.rejected) == 1
    for act in (store.pull, store.onboard, lambda: store.publish({"compiled.json": "{}"}),
                lambda: store.withdraw("a.b", before=NOW)):  # fmt: skip
        try:
            act()
        except Unavailable:
            continue
