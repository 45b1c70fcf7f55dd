"""An agent whose sessions begin with preferences: prepared by the command line, asked headless.

The home holds a local store and what `prefs install-hooks` put there. What a test adds beside the
address of the scripted model is the owner's own part, once: their trust in the new hooks.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from infra.local.ports import free_port
from tests.e2e.agents.runtimes import KEY_VARIABLE, ClaudeCode, Codex, Hermes, OpenClaw
from tests.e2e.agents.workbench import Home, programs
from tests.fakes.statements import many

if TYPE_CHECKING:
    from tests.e2e.agents.runtimes import Runtime
    from tests.fakes.model_wire import Turn

PREFS = str(Path(sys.executable).with_name("prefs"))
CHARACTERS = 28_000
AMOUNT = 400


class Hooked(Protocol):
    """A client with session hooks. `platform` is its name among ours."""

    platform: ClassVar[str]
    runtime: ClassVar[Runtime]

    def trust(self, home: Home, notes: str) -> None:
        """What the owner does after `install-hooks` said `notes`."""
        ...

    def ask(self, home: Home, question: str) -> str:
        """Ask in a new session, wait until it has ended, and return the answer."""
        ...


class Ending(Hooked, Protocol):
    """One that also says when a session ends; Hermes does not, for single questions."""

    def session(self, home: Home, turn: Turn) -> str:
        """The session that a request to the model belongs to."""
        ...


@dataclass(frozen=True)
class HookedCodex:
    """Codex runs no hook before its owner trusted it; its own app server takes the answer."""

    platform: ClassVar = "codex"
    runtime: ClassVar = Codex()

    def trust(self, home: Home, notes: str) -> None:
        """As its hooks page does: by the hash of each hook that it lists."""
        assert "/hooks" in notes
        with AppServer(home) as server:
            listed = server.call("hooks/list", {"cwds": [str(home.work)]})["data"]
            hooks = [hook for entry in listed for hook in entry["hooks"]]
            assert [hook["trustStatus"] for hook in hooks] == ["untrusted"] * 3
            states = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "value": states, "mergeStrategy": "upsert"}
            assert server.call("config/batchWrite", {"edits": [edit]})["status"] == "ok"

    def ask(self, home: Home, question: str) -> str:
        """As the runtime does."""
        return self.runtime.ask(home, question)

    def session(self, home: Home, turn: Turn) -> str:
        """The model caches by session."""
        return turn.body["prompt_cache_key"]


@dataclass(frozen=True)
class HookedClaudeCode:
    """Claude Code trusts the hooks of its owner's own settings."""

    platform: ClassVar = "claude-code"
    runtime: ClassVar = ClaudeCode()

    def trust(self, home: Home, notes: str) -> None:
        """Nothing to do but start anew."""
        assert "new session" in notes

    def ask(self, home: Home, question: str) -> str:
        """As the runtime does."""
        return self.runtime.ask(home, question)

    def session(self, home: Home, turn: Turn) -> str:
        """The one session that has a transcript."""
        (transcript,) = (home.folder / ".claude" / "projects").glob("*/*.jsonl")
        return transcript.stem


@dataclass(frozen=True)
class HookedHermes:
    """Hermes has its hooks in a file of YAML, which the owner edits, and asks once about each."""

    platform: ClassVar = "hermes"
    runtime: ClassVar = Hermes()

    def trust(self, home: Home, notes: str) -> None:
        """Paste the lines of the recipe, and say yes beforehand."""
        self.runtime.connect(home, notes[notes.index("hooks:") :])
        home.settings["HERMES_ACCEPT_HOOKS"] = "1"

    def ask(self, home: Home, question: str) -> str:
        """As the runtime does."""
        return self.runtime.ask(home, question)


@dataclass(frozen=True)
class HookedOpenClaw:
    """OpenClaw runs its hooks in the Gateway, which is started for each question."""

    platform: ClassVar = "openclaw"
    runtime: ClassVar = OpenClaw()

    def trust(self, home: Home, notes: str) -> None:
        """Switch the hook on."""
        assert "openclaw hooks enable judgment-preferences" in notes
        home.run("openclaw", "hooks", "enable", "judgment-preferences")

    def ask(self, home: Home, question: str) -> str:
        """A turn of the main session, through the Gateway."""
        if "MODEL_URL" in home.settings:
            self._configure(home)
        with Gateway(home):
            report = home.run(
                *("openclaw", "agent", "--agent", "main", "--message", question),
                *("--model", "local/fake-model", "--json"),
            )
        return json.loads(report)["result"]["payloads"][0]["text"]

    def session(self, home: Home, turn: Turn) -> str:
        """The main session has a fixed name."""
        return "agent:main:main"

    def _configure(self, home: Home) -> None:
        """Give it the model, beside what the trust may have written."""
        config = home.folder / ".openclaw" / "openclaw.json"
        config.parent.mkdir(exist_ok=True)
        if not config.exists():
            config.write_text("{}")
        self.runtime.connect(home, "true")


class Gateway:
    """OpenClaw's Gateway, ready with its hooks. A context manager."""

    def __init__(self, home: Home):
        self.home = home
        self.said: list[str] = []

    def __enter__(self) -> Gateway:
        """Start it and read what it says until it listens and has its hooks, if there are any."""
        port = str(free_port())
        self.home.settings["OPENCLAW_GATEWAY_PORT"] = port
        self.home.settings["OPENCLAW_GATEWAY_TOKEN"] = "for-tests"
        command = "openclaw gateway run --allow-unconfigured --auth token --bind loopback --port"
        self.process = subprocess.Popen(
            [*command.split(), port],
            cwd=self.home.work,
            env=dict(self.home.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            self._read_until_ready()
        except BaseException:  # also a test's timeout must not leave it running
            self._stop()
            raise
        self.rest = threading.Thread(target=self.said.extend, args=[self.process.stdout])
        self.rest.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, and what it started."""
        self._stop()
        self.rest.join()
        assert self.process.stdout
        self.process.stdout.close()

    def _read_until_ready(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.said.append(line)
            if "[gateway] ready" in line:
                return
        raise AssertionError("".join(self.said)[-2000:])

    def _stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


class AppServer:
    """`codex app-server`, over its standard input and output. A context manager."""

    def __init__(self, home: Home):
        self.home = home

    def __enter__(self) -> AppServer:
        """Start it and shake hands."""
        self.process = subprocess.Popen(
            ["codex", "app-server"],
            cwd=self.home.work,
            env=dict(self.home.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.call("initialize", {"clientInfo": {"name": "judgment-tests", "version": "1"}})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up, and wait until it is gone."""
        self.process.communicate(timeout=30)

    def call(self, method: str, parameters: dict[str, Any]) -> Any:
        """The result of one request."""
        assert self.process.stdout
        self._send({"id": method, "method": method, "params": parameters})
        for line in self.process.stdout:
            said = json.loads(line)
            if said.get("id") == method:
                return said["result"]
        raise AssertionError(f"no answer to {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


def prepared(hooked: Hooked, folder: Path, model: str) -> Home:
    """A home with 28,000 characters of preferences and the hooks of its client, not yet trusted."""
    home = Home(folder, programs(hooked.runtime.environment), {KEY_VARIABLE: "none"})
    hooked.runtime.begin(home, model)
    batch = folder / "statements.json"
    batch.write_text(json.dumps(many(AMOUNT, CHARACTERS)))
    home.run(PREFS, "capture-batch", "--file", str(batch), "--platform", "cli")
    home.run(PREFS, "compile")
    return home


def hooks(hooked: Hooked, home: Home, *more: str) -> dict[str, Any]:
    """What `prefs install-hooks` reports."""
    return json.loads(home.run(PREFS, "install-hooks", "--platform", hooked.platform, *more))


def block(hooked: Hooked, home: Home) -> str:
    """The block as the command line prints it for a person."""
    return home.run(PREFS, "inject", "--platform", hooked.platform, "--format", "text").strip()
