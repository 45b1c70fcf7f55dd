"""What a command is: its options, and where the function that runs it lives.

Commands are declared once, as rows. The quick path reads its arguments by them, and click's groups,
help and shell completion are made from them. Standard library only.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Shape = Literal["text", "flag", "choice", "number", "count"]


class Option(NamedTuple):
    """`--name VALUE`, or without dashes a positional argument.

    `into` is the parameter that receives it (by default the name with underscores). `many` collects
    every occurrence into a tuple. `required` must be given; otherwise `default` stands.
    """

    name: str
    about: str = ""
    shape: Shape = "text"
    choices: tuple[str, ...] = ()
    default: Any = None
    required: bool = False
    many: bool = False
    into: str = ""
    shown: str = ""

    @property
    def parameter(self) -> str:
        """The name of the function's parameter."""
        return self.into or self.name.lstrip("-").replace("-", "_")

    @property
    def positional(self) -> bool:
        """Whether it is given by its place."""
        return not self.name.startswith("-")

    @property
    def absent(self) -> Any:
        """What the function receives when it is not given."""
        if self.many:
            return ()
        return False if self.shape == "flag" else self.default


class Command(NamedTuple):
    """A command, or with `children` a group of them.

    `run` is "module:function"; the module is imported when the command is called. A `quick` command
    is run without click when its arguments are plain. `harmless` is for what a host runs by itself:
    "always", or the option with which it does; a mistake in the arguments is then said and no more.
    """

    name: str
    about: str
    run: str = ""
    options: tuple[Option, ...] = ()
    children: tuple[Command, ...] = ()
    quick: bool = False
    more: str = ""
    harmless: str = ""

    def child(self, name: str) -> Command | None:
        """The command of this name in this group."""
        return next((one for one in self.children if one.name == name), None)
