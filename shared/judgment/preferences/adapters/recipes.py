"""What an owner does by hand, where a host has no file that could be edited for them safely."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from judgment.preferences.adapters.hooks import draining, injection


def recipe(platform: str, command: Sequence[str], *, uninstall: bool = False) -> str:
    """The steps for Hermes or ChatGPT, with the command in them. Raises KeyError."""
    if uninstall:
        return _UNDO[platform]
    text = _DO[platform]
    for mark, arguments in (("INJECT", injection(platform)), ("DRAIN", draining(platform))):
        text = text.replace(
            mark, json.dumps(shlex.join([*command, *arguments]), ensure_ascii=False)
        )
    return text.replace("PREFS", shlex.join(command))


_DO = {
    "hermes": """\
Add this to config.yaml in ~/.hermes. Hermes asks once whether each hook may run.

hooks:
  pre_llm_call:
    - command: INJECT
      timeout: 10
  on_session_finalize:
    - command: DRAIN
      timeout: 10
  on_session_reset:
    - command: DRAIN
      timeout: 10
""",
    "chatgpt": """\
Paste what this prints, at most 1,500 characters, into Settings, Personalization, Custom
instructions. It says when it was compiled: paste it again after your preferences change.

PREFS inject --platform chatgpt --format text
""",
}
_UNDO = {
    "hermes": "Take the three hooks whose commands name this platform out of config.yaml.",
    "chatgpt": "Clear the block from Settings, Personalization, Custom instructions.",
}
