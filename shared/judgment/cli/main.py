"""The entry of the console script; it loads the command line only once it is called."""

from __future__ import annotations


def main() -> None:
    """Run the command line on `sys.argv` and exit with its status."""
    from judgment.cli.commands import cli

    cli(prog_name="judgment")
