"""A Lambda execution environment on this machine: one process, one door, one event at a time.

Speaks frames over the inherited socket `argv[1]`: four bytes of length, then JSON. It says that it
is ready, then answers each `{"id", "deadline_ms", "event"}` with `{"ok": …}` or `{"error": …}`.
End of file, or the death of its parent, ends it.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from infra.local.children import die_with_parent
from judgment.entry.streaming import InvocationContext

Handler = Callable[[Any, InvocationContext], Any]


def main() -> None:
    """Serve the door named by `_HANDLER` until the gateway hangs up."""
    die_with_parent()
    with socket.socket(fileno=int(sys.argv[1])) as line, line.makefile("rwb") as stream:
        try:
            handler = _load(os.environ["_HANDLER"])
        except BaseException as failure:  # noqa: BLE001  (an import may fail in any way; it is reported)
            _send(stream, json.dumps({"error": _describe(failure)}))
            return
        _send(stream, json.dumps({"ready": True}))
        while (frame := _receive(stream)) is not None:
            _send(stream, _answer(handler, json.loads(frame)))


def _load(dotted: str) -> Handler:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _answer(handler: Handler, call: dict[str, Any]) -> str:
    context = InvocationContext.from_environ(os.environ, call["id"], call["deadline_ms"])
    try:
        answer = json.dumps({"ok": handler(call["event"], context)})
    except BaseException as failure:  # noqa: BLE001  (whatever a handler raises is its answer)
        answer = json.dumps({"error": _describe(failure)})
    sys.stdout.flush()
    return answer


def _describe(failure: BaseException) -> dict[str, Any]:
    lines = traceback.format_exception(failure)
    print("[ERROR] " + "".join(lines), file=sys.stderr, flush=True)
    return {
        "errorType": type(failure).__name__,
        "errorMessage": str(failure),
        "stackTrace": lines,
    }


def _send(stream: BinaryIO, answer: str) -> None:
    body = answer.encode()
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def _receive(stream: BinaryIO) -> bytes | None:
    head = stream.read(4)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 4 else None


if __name__ == "__main__":
    main()
