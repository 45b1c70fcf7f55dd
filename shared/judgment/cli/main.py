"""The entry of the console scripts `judgment` and `prefs`.

`prefs inject` and `prefs get` run on every session start: their arguments are read from the table
and click is not loaded. Everything else goes through click.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgment.cli.program import JUDGMENT, PREFS
from judgment.cli.quick import arguments, found
from judgment.cli.running import run

if TYPE_CHECKING:
    from judgment.cli.table import Command


def main() -> int:
    """Run `judgment` on `sys.argv`; the exit status."""
    return _started(JUDGMENT, sys.argv[1:])


def prefs() -> int:
    """Run `prefs`, the short form of `judgment prefs`, on `sys.argv`; the exit status."""
    return _started(PREFS, sys.argv[1:])


def _started(program: Command, words: Sequence[str]) -> int:
    if f"_{program.name.upper()}_COMPLETE" not in os.environ:
        named = found(program, words)
        if named is not None and named[0].quick:
            command, rest = named
            values = arguments(command, rest)
            if values is not None:
                return run(command, values)
    from judgment.cli.commands import started

    return started(program, words)
