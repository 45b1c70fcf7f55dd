"""The two files of our hook for OpenClaw, which are ours alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from judgment.kit.errors import Conflict

FOLDER = "judgment-preferences"
NAMES = ("HOOK.md", "handler.js")
_SOURCES = Path(__file__).parent / "openclaw_hook"
_OURS = "made by `prefs install-hooks --platform openclaw`"


def with_program(name: str, before: str | None, program: Sequence[str]) -> str:
    """What the file of that name holds for this program. Raises Conflict where it is not ours."""
    without_program(before)
    text = (_SOURCES / name).read_text()
    return text.replace("const PROGRAM = [];", f"const PROGRAM = {json.dumps(list(program))};")


def without_program(before: str | None) -> None:
    """Nothing of a file that is ours. Raises Conflict where it is not."""
    if before is not None and _OURS not in before.lower():
        raise Conflict("It was not made by this command. It was left as it is.")
