"""Where an owner's preferences are put in front of a model, and how much room there is.

Source: issue part 3 item 7. The budgets stay clear of what each host cuts. Above 10,000 characters
the model of Claude Code or Hermes gets a preview of what a hook says, and that of Codex above 2,500
tokens, which it counts as 10,000 bytes. All AGENTS.md files of a project share 32 KiB. A field of
ChatGPT's custom instructions takes 1,500 characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal["hook", "file", "paste"]


@dataclass(frozen=True, slots=True)
class Platform:
    """One host of agents.

    `budget` bounds the block in UTF-8 bytes, which are never fewer than the characters however a
    host counts them; where the owner pastes it, in UTF-16 units. A value longer than `value_room`
    is shortened. `way` says how the block gets there.
    """

    name: str
    title: str
    budget: int
    value_room: int
    way: Way

    def size(self, text: str) -> int:
        """The length of `text` as this platform's budget counts it."""
        if text.isascii():
            return len(text)
        if self.way == "paste":
            return len(text.encode("utf-16-le")) // 2
        return len(text.encode())


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
