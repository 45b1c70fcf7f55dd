"""What an owner does by hand where nothing of theirs should be edited for them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from judgment.preferences.adapters.hooks import injection


def recipe(platform: str, command: Sequence[str], *, uninstall: bool = False) -> str:
    """The steps for Hermes, OpenClaw or ChatGPT, with the command in them. Raises KeyError."""
    text = _UNDO[platform] if uninstall else _DO[platform]
    line = shlex.join([*command, *injection(platform)])
    return text.replace("COMMAND", line)


_DO = {
    "hermes": """Add to ~/.hermes/config.yaml, and say yes when Hermes asks about the hook:

hooks:
  pre_llm_call:
    - command: COMMAND
      timeout: 10
""",
}
_UNDO = {"hermes": "Take the hook whose command has `inject --platform hermes` out of config.yaml."}
