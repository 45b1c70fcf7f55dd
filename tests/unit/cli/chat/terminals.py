"""`judgment chat` as a person meets it: run to its end, or on a real terminal, typed at."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from click.testing import CliRunner

from judgment.cli.commands import cli
from tests.architecture.source import ROOT
from tests.fakes.message_gateway import TOKEN
from tests.unit.cli.homes import UNSET, Said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.message_gateway import MessageGateway

ENTRY = "import sys; from judgment.cli.main import main; sys.exit(main())"
WAIT_SECONDS = 30.0


def settings(gateway: MessageGateway, **more: str) -> dict[str, str]:
    """The environment of an owner."""
    return {"SYNC_API_URL": gateway.url, "SYNC_OWNER_TOKEN": TOKEN, **more}


def chat(gateway: MessageGateway, *words: str, code: int | None = 0, **more: str) -> Said:
    """Run it in this process, nobody at the terminal; `code` None: any."""
    environment = {**dict.fromkeys(UNSET), **settings(gateway, **more)}
    found = CliRunner().invoke(cli, ["chat", *words], env=environment)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    said = Said(found.exit_code, found.stdout, found.stderr)
    assert code in (said.code, None), said
    return said


class Terminal:
    """A process on a terminal of its own. `piped`: its stdout is a file's, not the terminal's.

    Without a gateway the words say where to find one.
    """

    def __init__(
        self, gateway: MessageGateway | None, folder: Path, *words: str, piped: bool = False
    ):
        self._ours, theirs = pty.openpty()
        path, python = os.environ["PATH"], str(ROOT / "shared")
        more = {"TERM": "dumb", "HOME": str(folder), "PATH": path, "PYTHONPATH": python}
        self._out = (folder / "stdout").open("w+b") if piped else None
        self.process = subprocess.Popen(
            [sys.executable, "-c", ENTRY, "chat", *words],
            stdin=theirs,
            stdout=self._out or theirs,
            stderr=theirs,
            cwd=folder,
            env=settings(gateway, **more) if gateway else more,
            start_new_session=True,
        )
        os.close(theirs)
        self._shown = ""
        self._seen = 0
        self._is_over = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)

    @property
    def shown(self) -> str:
        """What the terminal was sent so far."""
        with self._changed:
            return self._shown.replace("\r\n", "\n")

    @property
    def stdout(self) -> str:
        """What went to the file."""
        assert self._out is not None
        self._out.seek(0)
        return self._out.read().decode()

    def sees(self, text: str) -> None:
        """Wait until `text` is shown, after what was waited for before."""

        def found() -> bool:
            at = self._shown.find(text, self._seen)
            if at >= 0:
                self._seen = at + len(text)
            return at >= 0 or self._is_over

        with self._changed:
            before = self._seen
            self._changed.wait_for(found, WAIT_SECONDS)
            assert self._seen > before or not text, f"no {text!r} in:\n{self._shown}"

    def types(self, text: str) -> None:
        """Type a line."""
        os.write(self._ours, f"{text}\n".encode())

    def presses_ctrl_c(self) -> None:
        """To this process alone."""
        self.process.send_signal(signal.SIGINT)

    def ends(self, code: int = 0) -> str:
        """Wait for its end; all that was shown."""
        found = self.process.wait(WAIT_SECONDS)
        self._reader.join(WAIT_SECONDS)
        assert found == code, self.shown
        assert "Traceback" not in self.shown, self.shown
        return self.shown

    def __enter__(self) -> Self:
        """Watch it."""
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Whatever happened, it ends."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT_SECONDS)
        self._reader.join(WAIT_SECONDS)
        os.close(self._ours)
        if self._out is not None:
            self._out.close()

    def _read(self) -> None:
        try:
            while piece := os.read(self._ours, 65_536):
                with self._changed:
                    self._shown += piece.decode(errors="replace")
                    self._changed.notify_all()
        except OSError:  # how a terminal says that the other end has gone
            pass
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


def without_modes(text: str) -> str:
    """Without what readline itself switches at the terminal."""
    return re.sub(r"\x1b\[\?2004[hl]\r?", "", text)
