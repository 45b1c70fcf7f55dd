"""The memories that an agent would otherwise read its owner from."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.local.ports import free_port
from infra.node import NODE
from tests.bench.peers.environments import NodeEnvironment, PythonEnvironment
from tests.bench.peers.mcp_wire import HANDSHAKE, NEWEST, StdioMcp, http_session
from tests.bench.peers.peer import Document, Peer, PeerUnavailable, Read
from tests.bench.peers.processes import child, last_words, line_pipes, wait_for_port


class BasicMemory:
    """Markdown notes behind an index, served over MCP streamable HTTP."""

    product = "basic-memory 0.24.1"
    environment = PythonEnvironment("basic_memory", minimum=(3, 12))

    def __init__(self, era: str = NEWEST):
        self.era = era
        self.name = f"{self.product}, era {era}"
        self.how = "MCP over HTTP, `read_note` of one note"

    @contextmanager
    def open(self, document: Document) -> Iterator[Read]:
        """See `Peer.open`. Its own defaults, but for telemetry and update checks."""
        programs = self.environment.install()
        port = free_port()
        command = [str(programs / "basic-memory"), "mcp", "--transport", "streamable-http"]
        with (
            _new_home() as home,
            child(
                [*command, "--host", "127.0.0.1", "--port", str(port)],
                home,
                {
                    "BASIC_MEMORY_HOME": str(home / "notes"),
                    "BASIC_MEMORY_CONFIG_DIR": str(home / "config"),
                    "BASIC_MEMORY_AUTO_UPDATE": "false",
                    "LOGFIRE_SEND_TO_LOGFIRE": "false",
                },
            ) as process,
        ):
            wait_for_port(process, port, home / "log")
            with http_session(f"http://127.0.0.1:{port}/mcp", era=self.era) as session:
                content = "\n".join([f"# {document.title}", "", *document.statements])
                session.call(
                    "write_note",
                    {"title": document.title, "directory": "owner", "content": content},
                )
                identifier = f"owner/{document.title.lower().replace(' ', '-')}"
                yield lambda: session.call("read_note", {"identifier": identifier})


class ServerMemory:
    """The reference knowledge-graph memory, served over standard input and output."""

    name = "@modelcontextprotocol/server-memory 2026.8.31"
    how = "MCP over stdio, `read_graph`"
    environment = NodeEnvironment("server_memory")

    @contextmanager
    def open(self, document: Document) -> Iterator[Read]:
        """See `Peer.open`. One entity with an observation a statement."""
        folder = self.environment.install()
        module = folder / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
        with (
            _new_home() as home,
            child(
                [str(NODE), str(module)],
                home,
                {"MEMORY_FILE_PATH": str(home / "memory.jsonl")},
                pipes=True,
            ) as process,
        ):
            session = StdioMcp(process)
            entity = {
                "name": document.title,
                "entityType": "person",
                "observations": list(document.statements),
            }
            session.call("create_entities", {"entities": [entity]})
            yield lambda: _unescaped(session.call("read_graph", {}))


class Mem0:
    """The memory library, local, in a process of its own; no model is called to read."""

    name = "mem0ai 2.2.1"
    how = "library call `get_all`, local Qdrant, over a pipe"
    environment = PythonEnvironment("mem0")

    @contextmanager
    def open(self, document: Document) -> Iterator[Read]:
        """See `Peer.open`. One memory a statement, stored without inference."""
        programs = self.environment.install()
        driver = Path(__file__).with_name("mem0_driver.py")
        with (
            _new_home() as home,
            child(
                [str(programs / "python"), str(driver)],
                home,
                {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(home), "OPENAI_API_KEY": "unused"},
                pipes=True,
            ) as process,
        ):
            ask, answer = line_pipes(process)

            def exchange(message: object) -> str:
                try:
                    ask.write(json.dumps(message).encode() + b"\n")
                    ask.flush()
                    line = answer.readline()
                except OSError as reason:
                    raise PeerUnavailable(last_words(home / "log")) from reason
                if not line:
                    raise PeerUnavailable(last_words(home / "log"))
                return "\n".join(json.loads(line))

            exchange(document.statements)
            yield lambda: exchange("read")


def memories() -> list[Peer]:
    """The peers of a profile read."""
    return [BasicMemory(), BasicMemory(HANDSHAKE), ServerMemory(), Mem0()]


def _unescaped(text: str) -> str:
    """The observations of a graph, as text again."""
    return "\n".join(
        observation
        for entity in json.loads(text)["entities"]
        for observation in entity["observations"]
    )


@contextmanager
def _new_home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="judgment-peer-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
