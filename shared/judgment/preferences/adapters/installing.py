"""`install-hooks`: what a host needs to start its sessions with the owner's preferences.

Source: issue part 3 item 7; reference `fulcra-prefs.md` §2.7 defect 25.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judgment.kit.errors import Conflict, InvalidRequest
from judgment.kit.files import shown
from judgment.preferences.adapters import filing
from judgment.preferences.adapters.hooks import entries
from judgment.preferences.adapters.managed import with_block, without_block
from judgment.preferences.adapters.recipes import recipe
from judgment.preferences.adapters.settings import with_hooks, without_hooks


@dataclass(frozen=True, slots=True)
class _Where:
    """A host's file: below its folder, which the variable moves, or in a project."""

    variable: str
    folder: str
    in_folder: str
    in_project: str


_FILES = {
    # Claude Code's file of a project that is not shared: a path on this machine is wrong on others.
    "claude-code": _Where(
        "CLAUDE_CONFIG_DIR", ".claude", "settings.json", ".claude/settings.local.json"
    ),
    "codex": _Where("CODEX_HOME", ".codex", "hooks.json", ".codex/hooks.json"),
    "agents-md": _Where("CODEX_HOME", ".codex", "AGENTS.md", "AGENTS.md"),
}

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
    target_dir: Path | None,
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    text: str = "",
    dry_run: bool = False,
    uninstall: bool = False,
) -> Report:
    """Put our hooks or block into the host's file: of a project, or where None of the owner.

    `command` begins every hook: an absolute path, then whatever comes before `inject`. `environ`
    tells where the home is, or the host's own folder. `text` is the block for `agents-md`; an empty
    one takes the block out. Installing twice is installing once, and `uninstall` takes out what is
    ours and nothing else. Raises InvalidRequest for an unknown platform, a relative command or a
    missing project, Conflict for a file that is left as it is.
    """
    if platform not in PLACES:
        raise InvalidRequest(f"No such platform. There are: {', '.join(PLACES)}.")
    if not command or not Path(command[0]).is_absolute():
        raise InvalidRequest("A hook needs the absolute path of its command.")
    if platform in RECIPES:
        notes = recipe(platform, command, uninstall=uninstall)
        return Report(platform, "recipe", dry_run=dry_run, notes=(notes,))
    held = filing.read(path_of(platform, target_dir, environ))
    try:
        after = _after(platform, held.text, command, text, uninstall)
    except Conflict as error:
        raise Conflict(f"{shown(held.path)}: {error.message}") from error
    diff = filing.difference(held, after)
    if after == held.text:
        return Report(platform, "unchanged", held.path, dry_run=dry_run)
    backup = None if dry_run else filing.change(held, after)
    if uninstall or (platform == "agents-md" and not text):
        return Report(platform, "removed", held.path, backup, diff, dry_run)
    return Report(platform, "installed", held.path, backup, diff, dry_run, (NOTES[platform],))


def path_of(platform: str, target_dir: Path | None, environ: Mapping[str, str]) -> Path:
    """The file that `install` changes. Raises InvalidRequest where its project or home is none."""
    where = _FILES[platform]
    if target_dir is not None:
        if not target_dir.is_dir():
            raise InvalidRequest(f"{shown(target_dir)} is no folder.")
        return target_dir.absolute() / where.in_project
    if moved := environ.get(where.variable):
        return Path(moved).absolute() / where.in_folder
    if not environ.get("HOME"):
        raise InvalidRequest("HOME is not set, so the hosts' files cannot be found.")
    return Path(environ["HOME"]).absolute() / where.folder / where.in_folder


def _after(
    platform: str, before: str | None, command: Sequence[str], text: str, uninstall: bool
) -> str | None:
    if platform == "agents-md":
        return without_block(before) if uninstall or not text else with_block(before, text)
    if uninstall:
        return without_hooks(before, platform)
    return with_hooks(before, platform, entries(platform, command))
