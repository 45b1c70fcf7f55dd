"""A process that does one thing to a store again and again, each time killed a little later.

Arguments: folder of a filled store, folder for the copies, action. For each file operation of the
action (an audit event of Python) a copy is made and a child dies by SIGKILL just before that
operation; then for each named kill point. Prints what became of each, as JSON by name.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from judgment.kit.killpoints import arm
from judgment.preferences.disclosure import Wanted, disclose
from judgment.preferences.local.store import LocalStore
from tests.unit.preferences.local.stores import NOW, Clock, statement

OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.chmod"}
POINTS = (
    "files.written", "files.replaced", "files.half_appended", "files.appended",
    "compile.put", "compile.removed", "compile.published", "consent.appended",
    "ledger.announced", "ledger.appended",
    "forget.announced", "forget.rewritten", "forget.published", "forget.scrubbed",
)  # fmt: skip
SURVIVED, DONE_WITHOUT = "survived", "never came there"
MOST = 200

ACTIONS: dict[str, Callable[[LocalStore], object]] = {
    "capture": lambda store: store.append([statement("new.one", 1), statement("new.two", 2)]),
    "compile": lambda store: store.compile(),
    "decide": lambda store: store.decide(
        {"effect": "revoke", "key_glob": "secret.*", "audience": "bob"}
    ),
    "disclose": lambda store: disclose(store, Wanted("bob", keys=("food", "hidden")), NOW),
    "forget": lambda store: store.forget("secret.thing"),
}


def killed_at(place: int) -> None:
    """From now on, die at the operation of this number, counted from 0."""
    left = [place]

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event in OPERATIONS:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

    sys.addaudithook(hear)


def attempt(folder: Path, action: str, die: Callable[[], None]) -> str:
    """Do the action in a child that is made ready to die; what became of it."""
    store = LocalStore(folder, Clock())
    pid = os.fork()
    if pid == 0:
        die()
        ACTIONS[action](store)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    return "killed" if os.WIFSIGNALED(status) else SURVIVED


def main(template: str, copies: str, action: str) -> None:
    """Try every place; the copies stay for the test to look at."""
    found: dict[str, str] = {}
    for place in range(MOST):
        folder = Path(copies) / f"operation-{place}"
        shutil.copytree(template, folder)
        found[folder.name] = attempt(folder, action, lambda place=place: killed_at(place))
        if found[folder.name] == SURVIVED:
            break
    for point in POINTS:
        folder = Path(copies) / point
        shutil.copytree(template, folder)
        found[point] = attempt(folder, action, lambda point=point: arm(point))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
