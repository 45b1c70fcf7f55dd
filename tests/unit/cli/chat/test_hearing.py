"""Whoever leaves a turn hangs up, and whoever waits for it hears what the line did."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from judgment.cli.chat.client import Answer, Gateway
from judgment.cli.chat.events import Received
from judgment.cli.chat.hearing import INTERRUPTION, Hearing, Interrupts
from judgment.contract.messages import TextDelta
from judgment.kit.errors import Unauthorized
from tests.fakes.message_gateway import TOKEN, MessageGateway, Wire

if TYPE_CHECKING:
    from tests.unit.cli.chat.conftest import Starts

pytestmark = pytest.mark.promise("P4-chat", "P4-stream-gone")


def _hearing(gateway: MessageGateway, token: str = TOKEN) -> Hearing:
    return Hearing(lambda: Gateway(gateway.url, token).say("Hi", None, None))


def _listeners() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if "_hear" in one.name}


def test_leaving_hangs_up_though_nothing_comes(starts: Starts) -> None:
    over = threading.Event()

    def silent(line: Wire) -> None:
        line.send(TextDelta(delta="On"))
        over.wait(20)

    before = _listeners()
    with _hearing(starts(silent)) as hearing:
        assert isinstance(hearing.take(), Answer)
        assert isinstance(hearing.take(), Received)
        (listener,) = _listeners() - before
    assert not listener.is_alive()
    over.set()


def test_what_the_line_did_is_raised_where_it_is_waited_for(starts: Starts) -> None:
    with _hearing(starts(), "wrong") as hearing, pytest.raises(Unauthorized):
        hearing.take()


def test_an_interruption_comes_in_its_turn(starts: Starts) -> None:
    def script(line: Wire) -> None:
        line.stopped()
        line.done("stopped")

    gateway = starts(script)
    with _hearing(gateway) as hearing:
        head = hearing.take()
        assert isinstance(head, Answer)
        hearing.interrupt()
        assert hearing.take() == INTERRUPTION
        Gateway(gateway.url, TOKEN).stop(head.conversation_id)
        assert isinstance(hearing.take(), Received)
        assert hearing.take() is None


def test_ctrl_c_is_taken_over_and_given_back() -> None:
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    with Interrupts(lambda: pressed.append(1)) as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert pressed == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), interrupts.at_a_question():
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_job_in_the_background_stays_deaf_to_ctrl_c() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts(lambda: None):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
