"""The entry of the `mcp` Lambda: REST-proxy events for `/mcp`, in either protocol era."""

from __future__ import annotations

from functions.mcp.wiring import build
from judgment.entry.opening import opened_on_first_call

handler = opened_on_first_call(build)
