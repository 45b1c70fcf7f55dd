"""What an owner does by hand, where a host has no file that could be edited for them safely."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from judgment.preferences.adapters.hooks import draining, injection


def recipe(platform: str, command: Sequence[str], *, uninstall: bool = False) -> str:
    """The steps for Hermes or ChatGPT, with the command in them. Raises KeyError."""
    if uninstall:
        return _UNDO[platform]
    words = {
        "INJECT": _line(*command, *injection(platform)),
        "DRAIN": _line(*command, *draining(platform)),
        "PREFS": shlex.join(command),
    }
    # In one pass: a path may hold such a mark itself.
    return re.sub("|".join(words), lambda mark: words[mark[0]], _DO[platform])


def _line(*words: str) -> str:
    """A command as a double-quoted scalar of YAML, which JSON is."""
    return json.dumps(shlex.join(words), ensure_ascii=False)


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
