"""Where an owner's preferences are put in front of a model, and how much room there is.

Source: issue part 3 item 7. The budgets stay clear of what each host cuts: a hook's output above
10,000 characters reaches the model of Claude Code as a preview only; a field of ChatGPT's custom
instructions takes 1,500; all AGENTS.md files of a project share 32 KiB.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Platform:
    """One host of agents.

    `budget` bounds the block in UTF-16 units, which is what hosts count and never less than the
    characters. A value longer than `value_room` is shortened. `way` says how the block gets there:
    by a session hook, as a block in a file, or pasted by the owner.
    """

    name: str
    title: str
    budget: int
    value_room: int
    way: str


PLATFORMS: tuple[Platform, ...] = (
    Platform("claude-code", "Claude Code", 9_000, 300, "hook"),
    Platform("codex", "Codex", 9_000, 300, "hook"),
    Platform("hermes", "Hermes", 9_000, 300, "hook"),
    Platform("openclaw", "OpenClaw", 9_000, 300, "hook"),
    Platform("agents-md", "AGENTS.md", 4_000, 200, "file"),
    Platform("chatgpt", "ChatGPT", 1_500, 120, "paste"),
)


def platform_named(name: str) -> Platform:
    """The row of that name; a platform not in the table gets the room of a file."""
    for row in PLATFORMS:
        if row.name == name:
            return row
    return Platform(name, name, 4_000, 200, "file")
