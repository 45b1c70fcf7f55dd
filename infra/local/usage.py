"""What `./dev up` prints: addresses, keys, and lines to paste into a shell or an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgment.entry.agent_clients import CLIENTS

if TYPE_CHECKING:
    from infra.local.places import Places

_LINES_SHOWN = ("Claude Code", "Codex")

_WHO = {
    "demo": "a real person's electricity choices",
    "cold": "nobody has decided anything yet",
    "disabled": "agent access is switched off",
}


def usage(stack: dict[str, Any], places: Places) -> str:
    """The text for a stack.json's content."""
    key = stack["owners"]["demo"]["agent_key"] if "demo" in stack["owners"] else "<agent key>"
    api, mcp = stack["api_url"], stack["mcp_url"]
    owners = "\n".join(
        f"  {name:<9} {who['agent_key']}  {_WHO.get(name, '')}"
        for name, who in stack["owners"].items()
    )
    return f"""
Judgment is up.

  API       {api}
  MCP       {mcp}
  details   {places.stack_file}
  logs      {places.logs}

Agent keys
{owners}

Read the profile
  curl -s -H 'Authorization: Bearer {key}' {api}/api/agent/v1/profile

Give it to an agent (the skill, and the other runtimes: {api}/docs/agent-skill)
  export SYNC_API_KEY={key}
{_connect(api)}

Stop it with Ctrl-C, or ./dev down when it is detached.
"""


def _connect(api: str) -> str:
    """The lines that add the MCP server, from the table that the docs and the tests use."""
    shown = [client for client in CLIENTS if client.name in _LINES_SHOWN]
    return "\n".join(f"  {client.lines(api, 'sync-judgment')[1]}" for client in shown)
