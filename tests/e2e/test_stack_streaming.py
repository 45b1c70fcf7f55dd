"""Server-sent events through the running stack, also when somebody leaves early."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from infra.local.waiting import wait_for


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


@pytest.mark.promise("P1-9-probe")
def test_a_client_that_goes_away_does_not_stop_the_door_nor_the_next_client(
    api: httpx.Client, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    params = {"count": "5", "pause": "0.1", "ledger": str(ledger)}
    with api.stream("GET", "/probe/stream", params=params) as answer:
        next(answer.iter_text())
    assert wait_for(lambda: ledger.read_text().split() == ["0", "1", "2", "3", "4"], 20.0)
    again = api.get("/probe/stream", params={"count": "2"})
    assert again.text.count("data: ") == 2


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
