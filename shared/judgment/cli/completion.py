"""The script that makes a shell complete a program's commands, as click writes it."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from judgment.cli.output import write
from judgment.kit.errors import InvalidRequest


def completion(shell: str) -> None:
    """Print the script for `shell` (bash, zsh, fish) of the program that is running."""
    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    if made is None:
        raise InvalidRequest(f"No completion for {shell}.")
    name = root.info_name or "prefs"
    script = made(root.command, {}, name, f"_{name.upper()}_COMPLETE")
    write(script.source())
