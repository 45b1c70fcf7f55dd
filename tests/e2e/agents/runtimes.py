"""The agent runtimes under test: how each is pointed at a model, and asked a question.

What connects an agent to Judgment (skill and MCP server) is never here: those lines come from
`judgment.entry.agent_clients`, as users get them. Here is only what a test adds: the address of
the scripted model, and consent to call the tool unattended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from tests.e2e.agents.workbench import CLIENTS, HERMES, MORE_CLIENTS, Home
from tests.fakes.model_wire import Call, Reply, Turn

if TYPE_CHECKING:
    from tests.bench.peers.environments import NodeEnvironment, PythonEnvironment

SKILL = "sync-judgment"
KEY_VARIABLE = "SYNC_API_KEY"


class Runtime(Protocol):
    """An agent client. `name` is that of its row in the table of install lines."""

    name: ClassVar[str]
    environment: ClassVar[NodeEnvironment | PythonEnvironment]

    def begin(self, home: Home, model: str) -> None:
        """Point a new home at the model server, before the install lines are run."""
        ...

    def connect(self, home: Home, lines: str) -> None:
        """Carry out the line or the configuration that adds the MCP server."""
        ...

    def ask(self, home: Home, question: str) -> str:
        """Ask, wait, and return the final answer."""
        ...

    def load(self, turn: Turn) -> Reply | None:
        """The call by which a model gets the skill's text on this host."""
        ...


@dataclass(frozen=True)
class Codex:
    """OpenAI Codex, `codex exec`."""

    name: ClassVar = "Codex"
    environment: ClassVar = CLIENTS

    def begin(self, home: Home, model: str) -> None:
        """The model is a provider of the configuration file."""
        self._config(home).parent.mkdir()
        self._config(home).write_text(
            'model = "fake-model"\n'
            'model_provider = "fake"\n'
            "[model_providers.fake]\n"
            'name = "fake"\n'
            f'base_url = "{model}/v1"\n'
            'wire_api = "responses"\n'
            "supports_websockets = false\n"
        )

    def connect(self, home: Home, lines: str) -> None:
        """The line, then consent for the server that it added last."""
        home.paste(lines)
        with self._config(home).open("a") as config:
            config.write('default_tools_approval_mode = "approve"\n')

    def ask(self, home: Home, question: str) -> str:
        """The home is the sandbox; Codex' own needs kernel features that containers lack."""
        return home.run(
            "codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", question
        )

    def load(self, turn: Turn) -> Reply | None:
        """Codex lists skills with their files; a model reads one with the shell."""
        shell = turn.tool("exec_command")
        return shell and Call(shell, {"cmd": f"cat ~/.agents/skills/{SKILL}/SKILL.md"})

    @staticmethod
    def _config(home: Home) -> Path:
        return home.folder / ".codex" / "config.toml"


@dataclass(frozen=True)
class ClaudeCode:
    """Anthropic Claude Code, `claude -p`."""

    name: ClassVar = "Claude Code"
    environment: ClassVar = MORE_CLIENTS

    def begin(self, home: Home, model: str) -> None:
        """The model is told by environment; tools are offered at once instead of searched."""
        home.settings |= {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "none",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def connect(self, home: Home, lines: str) -> None:
        """The line."""
        home.paste(lines)

    def ask(self, home: Home, question: str) -> str:
        """The result of the JSON report."""
        allowed = ["--allowedTools", "mcp__sync", "Skill"]
        report = home.run("claude", "-p", question, *allowed, "--output-format", "json")
        return json.loads(report)["result"]

    def load(self, turn: Turn) -> Reply | None:
        """The `Skill` tool."""
        tool = turn.tool("Skill")
        return tool and Call(tool, {"skill": SKILL})


@dataclass(frozen=True)
class Hermes:
    """Nous Hermes Agent, `hermes -z`."""

    name: ClassVar = "Hermes"
    environment: ClassVar = HERMES

    def begin(self, home: Home, model: str) -> None:
        """A configuration file; the key's own file; loopback allowed as an address of skills."""
        folder = home.folder / ".hermes"
        folder.mkdir()
        home.settings["HERMES_HOME"] = str(folder)
        (folder / ".env").write_text(f"{KEY_VARIABLE}={home.settings[KEY_VARIABLE]}\n")
        (folder / "config.yaml").write_text(
            "model:\n"
            "  default: fake-model\n"
            "  provider: custom\n"
            f"  base_url: {model}/v1\n"
            "  api_key: none\n"
            "security:\n"
            "  allow_private_urls: true\n"
        )

    def connect(self, home: Home, lines: str) -> None:
        """The lines are a part of the configuration file."""
        with (home.folder / ".hermes" / "config.yaml").open("a") as config:
            config.write(lines + "\n")

    def ask(self, home: Home, question: str) -> str:
        """One question, one answer."""
        return home.run("hermes", "-z", question)

    def load(self, turn: Turn) -> Reply | None:
        """The `skill_view` tool."""
        tool = turn.tool("skill_view")
        return tool and Call(tool, {"name": SKILL})


@dataclass(frozen=True)
class OpenClaw:
    """OpenClaw, `openclaw agent exec`."""

    name: ClassVar = "OpenClaw"
    environment: ClassVar = MORE_CLIENTS

    def begin(self, home: Home, model: str) -> None:
        """The model goes into the configuration that `mcp add` writes, see `connect`."""
        home.settings["MODEL_URL"] = model

    def connect(self, home: Home, lines: str) -> None:
        """The line, then the model and all tools in direct reach."""
        home.paste(lines)
        config = json.loads(self._config(home).read_text())
        model = {
            "id": "fake-model",
            "name": "fake",
            "contextWindow": 200_000,
            "maxTokens": 4_096,
            "input": ["text"],
            "reasoning": False,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        }
        provider = {
            "baseUrl": home.settings.pop("MODEL_URL") + "/v1",
            "apiKey": "none",
            "api": "openai-completions",
            "models": [model],
        }
        config["models"] = {"providers": {"local": provider}}
        config["tools"] = {"profile": "full", "toolSearch": False}
        self._config(home).write_text(json.dumps(config))

    def ask(self, home: Home, question: str) -> str:
        """`exec` sees skills of the home only with the home's own state folder."""
        report = home.run(
            *("openclaw", "agent", "exec", question, "--json"),
            *("--config", str(self._config(home)), "--state-dir", str(self._config(home).parent)),
            *("--model", "local/fake-model", "--no-auth-env-only", "--code-mode", "direct"),
        )
        return json.loads(report)["final"]

    def load(self, turn: Turn) -> Reply | None:
        """OpenClaw lists skills with their files; a model reads one with `read`."""
        tool = next((tool for tool in turn.tools if tool.name == "read"), None)
        return tool and Call(tool, {"path": f"~/.agents/skills/{SKILL}/SKILL.md"})

    @staticmethod
    def _config(home: Home) -> Path:
        return home.folder / ".openclaw" / "openclaw.json"
