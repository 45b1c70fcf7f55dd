"""The commands on a memory and their options."""

from __future__ import annotations

from judgment.cli.table import Command, Option

_CODE = "judgment.cli.memory"

_WITHOUT_HISTORY = Option("--without-history", "Only the files as they are.", "flag")

COMMANDS: tuple[Command, ...] = (
    Command(
        "import",
        "Bring a memory root, with its git history, into your memory.",
        f"{_CODE}.importing:bring",
        (
            Option("folder", "The memory root.", required=True),
            Option(
                "--on-conflict",
                "Where a file of yours differs: refuse all of it, or take the root's.",
                "choice",
                ("refuse", "replace"),
                default="refuse",
                into="conflicts",
            ),
            _WITHOUT_HISTORY,
            Option("--skip-refused", "Leave out what cannot be imported, and say what.", "flag"),
        ),
        more=(
            "All of it or nothing. Files that the root does not have stay; nothing is forgotten, "
            "and doing it again is harmless."
        ),
    ),
    Command(
        "export",
        "Write your memory, with its history as a git repository, into a new folder.",
        f"{_CODE}.exporting:take",
        (Option("folder", "A new or an empty folder.", required=True), _WITHOUT_HISTORY),
        more="The history needs git on this machine.",
    ),
)
