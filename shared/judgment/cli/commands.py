"""The programs as click groups, made from the table: usage, mistakes, help and completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from judgment import VERSION
from judgment.cli.program import JUDGMENT, PREFS
from judgment.cli.running import run

if TYPE_CHECKING:
    from judgment.cli.table import Command, Option

_TYPES: dict[str, Any] = {
    "text": click.STRING,
    "number": click.FLOAT,
    "count": click.IntRange(min=1),
}


def started(program: Command, words: Sequence[str]) -> int:
    """Run a program on these words; its exit status."""
    try:
        group(program).main(list(words), prog_name=program.name)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    return 0


class Ordered(click.Group):
    """A group that lists its commands in the table's order."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(self.commands)


def group(row: Command) -> click.Group:
    """The click group of a row that has children, with all that is beneath it."""
    made = Ordered(
        row.name,
        help=_help(row),
        commands=[group(one) if one.children else _command(one) for one in row.children],
    )
    return click.version_option(VERSION)(made) if row in (JUDGMENT, PREFS) else made


def _command(row: Command) -> click.Command:
    def called(**values: Any) -> None:
        click.get_current_context().exit(run(row, values))

    return click.Command(
        row.name,
        callback=called,
        params=[_parameter(option) for option in row.options],
        help=_help(row),
        short_help=row.about,
    )


def _help(row: Command) -> str:
    return f"{row.about}\n\n{row.more}" if row.more else row.about


def _parameter(option: Option) -> click.Parameter:
    kind = click.Choice(option.choices) if option.choices else _TYPES.get(option.shape)
    if option.positional:
        return click.Argument(
            [option.parameter],
            type=kind,
            required=option.required,
            nargs=-1 if option.many else 1,
        )
    shows_default = option.default is not None and not option.required
    return click.Option(
        [option.name, option.parameter],
        type=kind,
        is_flag=option.shape == "flag",
        default=option.absent,
        required=option.required,
        multiple=option.many,
        show_default=shows_default,
        metavar=option.shown or None,
        help=option.about,
    )


cli = group(JUDGMENT)
prefs = group(PREFS)
