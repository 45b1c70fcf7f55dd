"""What is shown: the assistant's words on stdout, everything else in short lines on stderr.

Words of a model and names of files are foreign. Of what a terminal would obey only new lines and
tabs get through, and only in the assistant's words; all else stands as an escape.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from judgment.cli.output import write
from judgment.kit.quoting import escape

if TYPE_CHECKING:
    from judgment.cli.chat.events import Received
    from judgment.contract.messages import ApprovalRequest, ApprovalResult, ToolCall, ToolResult

SHORT = 160
"""Characters of foreign text in a short line."""


class Screen:
    """`as_json`: every event as one line of JSON on stdout, and no words."""

    def __init__(self, *, as_json: bool = False):
        self._as_json = as_json
        self._in_a_line = False
        self._call: ToolCall | None = None

    def show(self, received: Received) -> None:
        """One event."""
        event = received.event
        if self._as_json:
            write(_json_line(received))
        if event.type == "text-delta":
            self._words(event.delta)
        elif event.type == "tool-call":
            self._call = event
        elif event.type == "tool-result":
            self._result(event)
        elif event.type == "approval-result":
            self._decision(event)
        elif event.type == "error":
            self.say(f"Error: {shown(event.message)} ({event.code})")

    def question(self, asked: ApprovalRequest) -> str:
        """The short line that asks for approval."""
        return f"? {short(asked.summary)}{_size(self._call)}: approve?"

    def say(self, text: str) -> None:
        """A line of ours on stderr; what of it is foreign has been made harmless."""
        self.end_line()
        print(text, file=sys.stderr, flush=True)

    def end_line(self) -> None:
        """Begin a new line, where words stand in one."""
        if self._in_a_line:
            self._in_a_line = False
            write("")

    def end_turn(self) -> None:
        """Nothing more of it comes."""
        self.end_line()
        self._call = None

    def _words(self, text: str) -> None:
        if self._as_json or not text:
            return
        write(shown(text), end="")
        self._in_a_line = not text.endswith("\n")

    def _decision(self, event: ApprovalResult) -> None:
        whose = "" if self._call else ", as you decided earlier"
        self.say(f"* {event.decision}{whose}")

    def _result(self, event: ToolResult) -> None:
        call, self._call = self._call, None
        output = _mapping(event.output)
        name = call.name if call else "the call"
        path = (call.input if call else output).get("path")
        about = f" on {short(path)}" if isinstance(path, str) else ""
        self.say(f"* {short(name)}{about}: {_became(event, output)}")


def shown(text: str) -> str:
    """Text of several lines that steers no terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else escape(c) for c in text)


def short(text: str) -> str:
    """Foreign text as a piece of one line."""
    return escape(text if len(text) <= SHORT else text[:SHORT] + " …")


def inputs(call: Mapping[str, Any]) -> str:
    """What a call was given, name by name, to be read before it is approved."""
    return "\n".join(
        f"  {short(name)}: {shown(value if isinstance(value, str) else json.dumps(value))}"
        for name, value in call.items()
    )


def _became(event: ToolResult, output: Mapping[str, Any]) -> str:
    if event.status == "denied":
        return "denied"
    if event.status == "error":
        return f"{short(str(output['code']))}: {short(str(output['message']))}"
    return "done"


def _size(call: ToolCall | None) -> str:
    texts = [value for value in (call.input if call else {}).values() if isinstance(value, str)]
    return f" ({sum(map(len, texts))} characters)" if texts else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _json_line(received: Received) -> str:
    """`{"event", "data"}`, the data as they came; where a terminal would obey them, as escapes."""
    data = received.data
    if not data.isprintable():
        data = escape(json.dumps(json.loads(data), ensure_ascii=False, separators=(",", ":")))
    return f'{{"event":"{received.event.type}","data":{data}}}'
