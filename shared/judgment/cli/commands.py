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


class Harmless(click.Command):
    """A command whose mistaken arguments must not fail the host that runs it."""

    when: str = "always"

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """As ever, but for the exit status of a mistake."""
        harmless = self.when == "always" or self.when in args
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as mistake:
            if not harmless:
                raise
            mistake.show()
            raise click.exceptions.Exit(0) from mistake


def _command(row: Command) -> click.Command:
    def called(**values: Any) -> None:
        click.get_current_context().exit(run(row, values))

    kind = Harmless if row.harmless else click.Command
    made = kind(
        row.name,
        callback=called,
        params=[_parameter(option) for option in row.options],
        help=_help(row),
        short_help=row.about,
    )
    if isinstance(made, Harmless):
        made.when = row.harmless
    return made


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
    more: dict[str, Any] = {}
    if option.default is not None:  # None would count as given
        more = {"default": option.default, "show_default": True}
    return click.Option(
        [option.name, option.parameter],
        type=kind,
        is_flag=True if option.shape == "flag" else None,  # False would make its value optional
        required=option.required,
        multiple=option.many,
        metavar=option.shown or None,
        help=option.about,
        **more,
    )


cli = group(JUDGMENT)
prefs = group(PREFS)
