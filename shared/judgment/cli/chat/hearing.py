"""A turn heard on a thread of its own, so that Ctrl-C can be answered while nothing comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Self

from judgment.cli.chat.client import Answer

if TYPE_CHECKING:
    from judgment.cli.chat.events import Received

Interruption = Literal["interruption"]
INTERRUPTION: Interruption = "interruption"
_LEAVING_SECONDS = 5.0


class Hearing:
    """Use as a context manager; leaving it hangs up."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Answer]]):
        self._begin = begin
        self._items: SimpleQueue[Answer | Received | Interruption | BaseException | None] = (
            SimpleQueue()
        )
        self._answer: Answer | None = None
        self._thread = threading.Thread(target=self._hear, daemon=True)

    def take(self) -> Answer | Received | Interruption | None:
        """What comes next: the head, then each event, None at the end. Raises what the line did."""
        item = self._items.get()
        if isinstance(item, BaseException):
            raise item
        if isinstance(item, Answer):
            self._answer = item
        return item

    def interrupt(self) -> None:
        """Let `take` give an interruption in its turn; also from a signal's handler."""
        self._items.put(INTERRUPTION)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up, where it has not ended by itself."""
        if self._answer is not None:
            self._answer.hang_up()
            self._thread.join(_LEAVING_SECONDS)

    def _hear(self) -> None:
        try:
            with self._begin() as answer:
                self._items.put(answer)
                for received in answer.events:
                    self._items.put(received)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._items.put(error)
        else:
            self._items.put(None)


class Interrupts:
    """While it is entered, the first Ctrl-C calls `first` and the second raises KeyboardInterrupt.

    Where signals are not ours to handle (another thread, a job in the background) it does nothing.
    """

    def __init__(self, first: Callable[[], None]):
        self._first = first
        self._pressed = False
        self._before: Any = None

    def press(self, *_: object) -> None:
        """As Ctrl-C does. Raises KeyboardInterrupt the second time."""
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True
        self._first()

    @contextmanager
    def at_a_question(self) -> Generator[None]:
        """Ctrl-C takes the question away, and counts."""
        try:
            with self._handled_by(signal.default_int_handler):
                yield
        except KeyboardInterrupt:
            self.press()

    def __enter__(self) -> Self:
        """Take Ctrl-C over."""
        if _is_ours():
            self._before = signal.signal(signal.SIGINT, self.press)
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def _handled_by(self, handler: Callable[..., Any]) -> Generator[None]:
        if self._before is None:
            yield
            return
        signal.signal(signal.SIGINT, handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self.press)


def _is_ours() -> bool:
    with suppress(ValueError):
        is_main = threading.current_thread() is threading.main_thread()
        return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return False
