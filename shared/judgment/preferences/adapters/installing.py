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
from judgment.preferences.adapters import filing, openclaw
from judgment.preferences.adapters.hooks import entries
from judgment.preferences.adapters.managed import with_block, without_block
from judgment.preferences.adapters.openclaw import with_program, without_program
from judgment.preferences.adapters.recipes import recipe
from judgment.preferences.adapters.settings import with_hooks, without_hooks


@dataclass(frozen=True, slots=True)
class _Where:
    """A host's files: below its folder, which the variable moves, or in a project."""

    variable: str
    folder: str
    in_folder: tuple[str, ...]
    in_project: tuple[str, ...]


_HOOK = tuple(f"hooks/{openclaw.FOLDER}/{name}" for name in openclaw.NAMES)
_FILES = {
    # Claude Code's file of a project that is not shared: a path on this machine is wrong on others.
    "claude-code": _Where(
        "CLAUDE_CONFIG_DIR", ".claude", ("settings.json",), (".claude/settings.local.json",)
    ),
    "codex": _Where("CODEX_HOME", ".codex", ("hooks.json",), (".codex/hooks.json",)),
    "openclaw": _Where("OPENCLAW_STATE_DIR", ".openclaw", _HOOK, _HOOK),
    "agents-md": _Where("CODEX_HOME", ".codex", ("AGENTS.md",), ("AGENTS.md",)),
}

NOTES = {
    "claude-code": "Claude Code reads its hooks when it starts: begin a new session.",
    "codex": "Codex runs a new hook only once you trust it: open codex, enter /hooks, and trust "
    "the three. For a run that nobody watches there is --dangerously-bypass-hook-trust.",
    "openclaw": "Switch it on with: openclaw hooks enable judgment-preferences. The Gateway "
    "runs it in your main session; `openclaw agent exec` runs no hooks.",
    "agents-md": "The block is as of now: run this again after your preferences change. In a "
    "project, it is shared with whoever shares the file.",
}
RECIPES = ("hermes", "chatgpt")
PLACES = (*_FILES, *RECIPES)


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
    missing project, Conflict for a file that is left as it is, be it odd, broken or read-only.
    """
    if platform not in PLACES:
        raise InvalidRequest(f"No such platform. There are: {', '.join(PLACES)}.")
    if not command or not Path(command[0]).is_absolute():
        raise InvalidRequest("A hook needs the absolute path of its command.")
    if not _is_text(command):
        raise InvalidRequest("The path of the command cannot stand in a file of UTF-8.")
    if platform in RECIPES:
        notes = recipe(platform, command, uninstall=uninstall)
        return Report(platform, "recipe", dry_run=dry_run, notes=(notes,))
    before = [filing.read(path) for path in paths_of(platform, target_dir, environ)]
    after = [_after(platform, held, command, text, uninstall) for held in before]
    changes = [(held, new) for held, new in zip(before, after, strict=True) if new != held.text]
    if not changes:
        return Report(platform, "unchanged", before[0].path, dry_run=dry_run)
    diff = "".join(filing.difference(held, new) for held, new in changes)
    kept = [None if dry_run else _changed(platform, held, new) for held, new in changes]
    if uninstall or (platform == "agents-md" and not text):
        return Report(platform, "removed", before[0].path, kept[0], diff, dry_run)
    notes = (NOTES[platform],)
    return Report(platform, "installed", before[0].path, kept[0], diff, dry_run, notes)


def _is_text(command: Sequence[str]) -> bool:
    """Not so where the system's bytes of a path are no UTF-8: Python keeps them as surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for word in command for letter in word)


def paths_of(
    platform: str, target_dir: Path | None, environ: Mapping[str, str]
) -> tuple[Path, ...]:
    """The files that `install` changes. Raises InvalidRequest where the project or home is none."""
    where = _FILES[platform]
    if target_dir is not None:
        if not target_dir.is_dir():
            raise InvalidRequest(f"{shown(target_dir)} is no folder.")
        return tuple(target_dir.absolute() / name for name in where.in_project)
    if moved := environ.get(where.variable):
        return tuple(Path(moved).absolute() / name for name in where.in_folder)
    if not environ.get("HOME"):
        raise InvalidRequest("HOME is not set, so the hosts' files cannot be found.")
    folder = Path(environ["HOME"]).absolute() / where.folder
    return tuple(folder / name for name in where.in_folder)


def _changed(platform: str, held: filing.Held, new: str | None) -> Path | None:
    """What is ours alone is not kept: a copy of a block would outlive its taking out."""
    if platform == "openclaw":
        return filing.change(held, new, keep=False, own_folder=True)
    ours = platform == "agents-md" and without_block(held.text) is None
    return filing.change(held, new, keep=not ours)


def _after(
    platform: str, held: filing.Held, command: Sequence[str], text: str, uninstall: bool
) -> str | None:
    try:
        match platform:
            case "agents-md" if uninstall or not text:
                return without_block(held.text)
            case "agents-md":
                return with_block(held.text, text)
            case "openclaw" if uninstall:
                return without_program(held.text)
            case "openclaw":
                return with_program(held.path.name, held.text, command)
            case _ if uninstall:
                return without_hooks(held.text, platform)
            case _:
                return with_hooks(held.text, platform, entries(platform, command))
    except Conflict as error:
        raise Conflict(f"{shown(held.path)}: {error.message}") from error
