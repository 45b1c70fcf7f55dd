"""What `./dev up` prints: addresses, keys, and lines to paste into a shell or an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infra.local.places import Places

_WHO = {
    "demo": "a real person's electricity choices",
    "cold": "nobody has decided anything yet",
    "disabled": "agent access is switched off",
}


def usage(stack: dict[str, Any], places: Places) -> str:
    """The text for a stack.json's content."""
    key = stack["owners"]["demo"]["agent_key"] if "demo" in stack["owners"] else "<agent key>"
    api, mcp = stack["api_url"], stack["mcp_url"]
    server = {"url": mcp, "headers": {"Authorization": f"Bearer {key}"}}
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

Give it to an agent (one of)
  claude mcp add --transport http judgment {mcp} --header 'Authorization: Bearer {key}'
  codex mcp add judgment --url {mcp} --bearer-token-env-var JUDGMENT_API_KEY
  {json.dumps({"mcpServers": {"judgment": server}})}

Stop it with Ctrl-C, or ./dev down when it is detached.
"""
