"""Running one command: its module is loaded, its refusals become one sentence and a status.

0 done · 1 refused or unavailable · 2 the caller's mistake. Standard library and the kit only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from judgment.cli.output import say
from judgment.kit.errors import InvalidRequest, Refusal, TooLarge
from judgment.kit.settings import SettingError

if TYPE_CHECKING:
    from judgment.cli.table import Command

DONE, REFUSED, MISTAKEN, INTERRUPTED = 0, 1, 2, 130


def run(command: Command, values: Mapping[str, Any]) -> int:
    """Call the command's function with `values`; its exit status.

    A refusal is said on stderr in one line. What is a defect of ours is raised as it is.
    """
    try:
        return function(command)(**values) or DONE
    except (InvalidRequest, TooLarge, SettingError) as mistake:
        say(f"Error: {mistake}")
        return MISTAKEN
    except BrokenPipeError:
        return REFUSED
    except (Refusal, OSError) as refusal:
        say(f"Error: {refusal}")
        return REFUSED
    except KeyboardInterrupt:
        say("Interrupted.")
        return INTERRUPTED


def function(command: Command) -> Callable[..., int | None]:
    """The function that a row names."""
    module, _, name = command.run.partition(":")
    return getattr(import_module(module), name)
