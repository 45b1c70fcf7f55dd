"""What is held against a tool call before it is carried out, in the reference's order.

Unavailable, the third identical call of one request, arguments that are no object, a deletion of
what this request wrote. The approval comes after these. Each refusal is for the model to read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from judgment.memory.model import failure_output

if TYPE_CHECKING:
    from judgment.llm.chat import ToolUse

IDENTICAL_CALLS = 3
"""The call of one name with the same input that is refused, counted within one request."""

Refused = dict[str, Any]


class Guards:
    """The guards of one request; `refusal` is asked once for each call, in their order."""

    def __init__(self, offered: Collection[str]):
        self._offered = frozenset(offered)
        self._made: Counter[str] = Counter()
        self._written: set[str] = set()

    def refusal(self, call: ToolUse) -> Refused | None:
        """Why the call is not carried out, as a tool's output; None where nothing stands against
        it."""
        self._made[_identity(call)] += 1
        if call.name not in self._offered:
            return failure_output("tool_unavailable", f"There is no tool named {call.name[:100]}.")
        if self.repeats(call):
            return failure_output(
                "loop_guard",
                "This very call was made before in this turn. Use what it gave, or do otherwise.",
            )
        if call.arguments is None:
            return failure_output(
                "invalid_input", call.problem or "The arguments are no JSON object."
            )
        return None

    def repeats(self, call: ToolUse) -> bool:
        """Whether this very call was made as often as none is carried out, whatever it is told."""
        return self._made[_identity(call)] >= IDENTICAL_CALLS

    def deletion(self, path: str) -> Refused | None:
        """Why `path` (contained) may not be deleted now: this request wrote it, or below it."""
        below = path + "/"
        if any(one == path or one.startswith(below) for one in self._written):
            return failure_output(
                "mutation_scope_guard", "What this turn has written is not deleted in this turn."
            )
        return None

    def wrote(self, paths: Iterable[str]) -> None:
        """These files were written in this request."""
        self._written.update(paths)


def _identity(call: ToolUse) -> str:
    given = call.problem if call.arguments is None else dict(call.arguments)
    return json.dumps([call.name, given], sort_keys=True)
