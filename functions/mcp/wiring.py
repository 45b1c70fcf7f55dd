"""What the `mcp` door is made of: an HTTP client and the address of REST. No database, no AWS."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from functions.mcp.door import McpDoor
from functions.mcp.rest import Rest
from functions.mcp.server import build_server
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings


@dataclass(frozen=True)
class Settings:
    """`api_url`: where REST is, else the domain name API Gateway was called by.

    `allowed_origins`: browser origins that may call, separated by commas, besides the API's own.
    """

    api_url: str = ""
    allowed_origins: str = ""


def build() -> McpDoor:
    """The door of this environment."""
    settings = read_settings(Settings, os.environ)
    # The SDK's loggers are children of the door's and tell three INFO lines a call.
    logging.getLogger("mcp.server").setLevel(logging.WARNING)
    rest = Rest()
    return McpDoor(build_server(rest), rest, settings.api_url, origins(settings), Telemetry("mcp"))


def origins(settings: Settings) -> frozenset[str]:
    """The allowed browser origins, in lower case and without a trailing slash."""
    own = urlsplit(settings.api_url)
    named = [*settings.allowed_origins.split(","), f"{own.scheme}://{own.netloc}"]
    return frozenset(o.strip().rstrip("/").lower() for o in named if o.strip() not in ("", "://"))
