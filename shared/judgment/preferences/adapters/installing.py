"""`install-hooks`: what a host needs to start its sessions with the owner's preferences.

Source: issue part 3 item 7; reference `fulcra-prefs.md` §2.7 defect 25.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judgment.kit.errors import Conflict, InvalidRequest
from judgment.preferences.adapters import filing
from judgment.preferences.adapters.hooks import entries
from judgment.preferences.adapters.managed import with_block, without_block
from judgment.preferences.adapters.recipes import recipe
from judgment.preferences.adapters.settings import with_hooks, without_hooks

Scope = Literal["user", "project"]

FILES: dict[tuple[str, Scope], tuple[str, str, str]] = {
    ("claude-code", "user"): ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
    ("claude-code", "project"): ("", ".claude", "settings.local.json"),
    ("codex", "user"): ("CODEX_HOME", ".codex", "hooks.json"),
    ("codex", "project"): ("", ".codex", "hooks.json"),
    ("agents-md", "user"): ("CODEX_HOME", ".codex", "AGENTS.md"),
    ("agents-md", "project"): ("", ".", "AGENTS.md"),
}
"""The variable that moves the host's folder, the folder, and the file in it.

A project's hooks for Claude Code go into the file that is not shared with others: a path on this
machine would be wrong on theirs."""

NOTES = {
    "claude-code": "Claude Code reads its hooks when it starts: begin a new session.",
    "codex": "Codex runs a new hook only once you trust it: open codex, enter /hooks, and trust "
    "the three. For a run that nobody watches there is --dangerously-bypass-hook-trust.",
    "agents-md": "The block is as of now: run this again after your preferences change. In a "
    "project, it is shared with whoever shares the file.",
}
RECIPES = ("hermes", "openclaw", "chatgpt")
PLACES = ("claude-code", "codex", "agents-md", *RECIPES)


@dataclass(frozen=True, slots=True)
class Report:
    """What was done, or with `dry_run` would be. `diff` is empty where nothing is to change.

    `outcome`: installed, removed, unchanged, or recipe (nothing was written: `notes` say what the
    owner does). `backup` keeps what the file held before.
    """

    platform: str
    outcome: Literal["installed", "removed", "unchanged", "recipe"]
    path: Path | None = None
    backup: Path | None = None
    diff: str = ""
    dry_run: bool = False
    notes: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "platform": self.platform,
            "outcome": self.outcome,
            "dry_run": self.dry_run,
            "path": str(self.path) if self.path else None,
            "backup": str(self.backup) if self.backup else None,
            "diff": self.diff,
            "notes": list(self.notes),
        }


def install(
    platform: str,
    target_dir: Path,
    command: Sequence[str],
    *,
    scope: Scope = "user",
    environ: Mapping[str, str] | None = None,
    text: str = "",
    dry_run: bool = False,
    uninstall: bool = False,
) -> Report:
    """Put our hooks or block into the host's file below `target_dir` (a home, or a project).

    `command` begins every hook: an absolute path, then whatever comes before `inject`. `environ`
    tells where the host's own folder is, if not below the home. `text` is the block for
    `agents-md`; an empty one takes the block out. Installing twice is installing once, and
    `uninstall` takes out what is ours and nothing else. Raises InvalidRequest for an unknown
    platform or a relative command, Conflict for a file that is left as it is.
    """
    if platform not in PLACES:
        raise InvalidRequest(f"No such platform. There are: {', '.join(PLACES)}.")
    if not command or not Path(command[0]).is_absolute():
        raise InvalidRequest("A hook needs the absolute path of its command.")
    if platform in RECIPES:
        notes = recipe(platform, command, uninstall=uninstall)
        return Report(platform, "recipe", dry_run=dry_run, notes=(notes,))
    held = filing.read(path_of(platform, target_dir, scope, environ or {}))
    try:
        after = _after(platform, held.text, command, text, uninstall)
    except Conflict as error:
        raise Conflict(f"{held.path}: {error.message}") from error
    diff = filing.difference(held, after)
    backup = filing.change(held, after) if after != held.text and not dry_run else None
    outcome = "unchanged" if after == held.text else "removed" if uninstall else "installed"
    notes = (NOTES[platform],) if outcome == "installed" else ()
    return Report(platform, outcome, held.path, backup, diff, dry_run, notes)


def path_of(
    platform: str, target_dir: Path, scope: Scope = "user", environ: Mapping[str, str] | None = None
) -> Path:
    """The file of the host that `install` changes."""
    variable, folder, name = FILES[platform, scope]
    moved = (environ or {}).get(variable)
    return (Path(moved) if moved else target_dir / folder) / name


def _after(
    platform: str, before: str | None, command: Sequence[str], text: str, uninstall: bool
) -> str | None:
    if platform == "agents-md":
        return without_block(before) if uninstall or not text else with_block(before, text)
    if uninstall:
        return without_hooks(before, platform)
    return with_hooks(before, platform, entries(platform, command))
