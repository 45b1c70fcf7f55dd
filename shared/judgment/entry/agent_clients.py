"""How each agent runtime gets the skill and the MCP server: lines to copy, one table.

The page `/docs/agent-skill`, the docs and the local stack's greeting show these lines; tests run
them. `{api}` is the address of the API and `{skill}` the skill's name; the key is always taken
from the environment variable `SYNC_API_KEY`, so that no line holds a secret.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AgentClient:
    """One runtime. `executed` names the test that runs its lines; empty means not run."""

    name: str
    skill: str
    mcp: str
    executed: str = ""

    def lines(self, api: str, skill_name: str) -> tuple[str, str]:
        """The skill's and the server's lines for an API address without a trailing slash."""
        return self._filled(self.skill, api, skill_name), self._filled(self.mcp, api, skill_name)

    @staticmethod
    def _filled(text: str, api: str, skill_name: str) -> str:
        return text.replace("{api}", api).replace("{skill}", skill_name)


_LARGE_CLIENTS = "tests/e2e/test_agents_more.py"


def _download(folder: str) -> str:
    return (
        f"mkdir -p {folder}/{{skill}} && "
        f"curl -fsS {{api}}/skills/sync-skill-v1.md -o {folder}/{{skill}}/SKILL.md"
    )


CLIENTS: tuple[AgentClient, ...] = (
    AgentClient(
        "Hermes",
        "hermes skills install {api}/.well-known/skills/{skill} --yes",
        """\
# ~/.hermes/config.yaml, with SYNC_API_KEY=… in ~/.hermes/.env
mcp_servers:
  sync:
    url: {api}/mcp
    headers:
      Authorization: "Bearer ${SYNC_API_KEY}\"""",
        _LARGE_CLIENTS,
    ),
    AgentClient(
        "Claude Code",
        _download("~/.claude/skills"),
        "claude mcp add --transport http sync {api}/mcp "
        '--header "Authorization: Bearer $SYNC_API_KEY"',
        _LARGE_CLIENTS,
    ),
    AgentClient(
        "Codex",
        _download("~/.agents/skills"),
        "codex mcp add sync --url {api}/mcp --bearer-token-env-var SYNC_API_KEY",
        "tests/e2e/test_agents_codex.py",
    ),
    AgentClient(
        "OpenClaw",
        _download("~/.agents/skills"),
        "openclaw mcp add sync --url {api}/mcp --transport streamable-http "
        '--header "Authorization=Bearer $SYNC_API_KEY"',
        _LARGE_CLIENTS,
    ),
    AgentClient(
        "opencode",
        _download(".agents/skills"),
        """\
// opencode.json
{
  "mcp": {
    "sync": {
      "type": "remote",
      "url": "{api}/mcp?names=underscore",
      "headers": {"Authorization": "Bearer {env:SYNC_API_KEY}"},
      "oauth": false
    }
  }
}""",
    ),
    AgentClient(
        "Cursor",
        _download(".agents/skills"),
        """\
// .cursor/mcp.json
{
  "mcpServers": {
    "sync": {
      "url": "{api}/mcp?names=underscore",
      "headers": {"Authorization": "Bearer ${env:SYNC_API_KEY}"}
    }
  }
}""",
    ),
    AgentClient(
        "VS Code",
        _download(".agents/skills"),
        """\
// .vscode/mcp.json
{
  "servers": {
    "sync": {
      "type": "http",
      "url": "{api}/mcp?names=underscore",
      "headers": {"Authorization": "Bearer ${input:sync-key}"}
    }
  },
  "inputs": [
    {"type": "promptString", "id": "sync-key", "description": "Sync key", "password": true}
  ]
}""",
    ),
)
