"""Server-sent events through the running stack, also when somebody leaves early."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from infra.local.waiting import wait_for
from tests.e2e.somebody import Somebody
from tests.fakes.model_server import always
from tests.fakes.model_trouble import Chatter
from tests.unit.llm.chatting import line

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack
    from tests.fakes.model_server import ModelServer

TOGETHER_SECONDS = 120.0


@pytest.mark.promise("P1-9-probe")
def test_events_arrive_while_the_door_is_still_running(api: httpx.Client, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    params = {"count": "3", "pause": "0.5", "ledger": str(ledger)}
    with api.stream("GET", "/probe/stream", params=params) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        chunks = answer.iter_text()
        first = next(chunks)
        written = len(ledger.read_text().split())
        rest = "".join(chunks)
    assert json.loads(first.removeprefix("data: "))["number"] == 0
    assert written < 3
    assert rest.count("data: ") == 2


@pytest.mark.promise("P4-stream-gone")
def test_a_client_that_goes_away_ends_a_door_that_listens(
    api: httpx.Client, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    params = {"count": "1000", "pause": "0.1", "ledger": str(ledger)}
    with api.stream("GET", "/probe/stream", params=params) as answer:
        next(answer.iter_text())
    assert wait_for(lambda: "ended" in ledger.read_text(), 20.0)
    noted = ledger.read_text().split()
    assert "told" not in noted
    assert len(noted) < 100
    assert api.get("/probe/stream", params={"count": "2"}).text.count("data: ") == 2


@pytest.mark.promise("P1-9-probe", "P4-stream-gone")
def test_a_client_that_goes_away_does_not_stop_a_deaf_door_nor_the_next_client(
    api: httpx.Client, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    params = {"count": "5", "pause": "0.1", "ledger": str(ledger), "deaf": "1"}
    with api.stream("GET", "/probe/stream", params=params) as answer:
        next(answer.iter_text())
    whole = ["0", "1", "2", "3", "4", "told", "ended"]
    assert wait_for(lambda: ledger.read_text().split() == whole, 20.0)
    again = api.get("/probe/stream", params={"count": "2"})
    assert again.text.count("data: ") == 2


@pytest.mark.promise("P4-stream-time")
def test_a_silent_door_is_heard_by_comments(api: httpx.Client) -> None:
    params = {"count": "1", "pause": "0.5", "heartbeat": "0.05"}
    told = api.get("/probe/stream", params=params).text
    assert told.count("data: ") == 1
    assert told.count(": keep-alive\n\n") >= 2


@pytest.mark.promise("P4-stream")
def test_fifty_clients_are_told_at_the_same_time(api: httpx.Client, tmp_path: Path) -> None:
    """Each door waits until all fifty have begun, so that none can be served after another."""
    ledger = tmp_path / "ledger"
    params = {"count": "2", "gather": "50", "ledger": str(ledger)}

    def told(_: int) -> set[int]:
        answer = api.get("/probe/stream", params=params, timeout=TOGETHER_SECONDS)
        numbers = [json.loads(line[6:]) for line in answer.text.split("\n\n") if line[:1] == "d"]
        assert [number["number"] for number in numbers] == [0, 1]
        return {number["pid"] for number in numbers}

    with ThreadPoolExecutor(50) as clients:
        processes = list(clients.map(told, range(50)))
    assert len(set.union(*processes)) == 50


@pytest.mark.promise("P1-9-probe")
def test_a_failure_in_the_middle_cuts_the_answer_off(api: httpx.Client) -> None:
    params = {"count": "5", "fail_at": "2"}
    received: list[str] = []
    with (
        pytest.raises(httpx.RemoteProtocolError),
        api.stream("GET", "/probe/stream", params=params) as answer,
    ):
        received.extend(answer.iter_text())
    assert "".join(received).count("data: ") == 2
    assert api.get("/probe/stream", params={"count": "1"}).status_code == 200


@pytest.mark.promise("P1-9-probe")
def test_a_refusal_before_the_first_byte_keeps_its_own_status_and_headers(
    api: httpx.Client,
) -> None:
    answer = api.get("/probe/stream", params={"refuse": "1"})
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["code"] == "rate_limited"


@pytest.mark.promise("P4-stream-gone")
def test_an_owner_who_leaves_ends_the_generation_and_finds_what_was_said(
    stack: RunningStack, api: httpx.Client, scripted_model: ModelServer
) -> None:
    """From the client to the provider: the connection there is closed as well."""
    me = Somebody(stack, api)
    me.chooses_the_scripted_model("message")
    endless = Chatter(line({"content": "On and "}), line({"content": "on "}))
    scripted_model.script = lambda turn: endless
    asked = {"content": "Tell me of eternity."}
    with api.stream("POST", "/message", json=asked, headers=me.headers) as answer:
        conversation = answer.headers["x-conversation-id"]
        assert "event: text-delta" in next(answer.iter_text())
    assert endless.left.wait(20)
    path = f"/conversations/{conversation}"

    def said() -> list[str]:
        return [message["role"] for message in me.ask("GET", path)["messages"]]

    assert wait_for(lambda: said() == ["user", "assistant"], 20)
    assert me.ask("GET", path)["messages"][1]["content"].startswith("On and ")
    scripted_model.script = always("There you are.")
    back = {**me.headers, "X-Conversation-Id": conversation}
    again = api.post("/message", json={"content": "I am back."}, headers=back)
    assert "There you are." in again.text
    assert said() == ["user", "assistant", "user", "assistant"]
    scripted_model.script = always("no script")
