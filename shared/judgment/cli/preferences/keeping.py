"""`onboard`, `compile`, `install-hooks`, `doctor` and `forget`."""

from __future__ import annotations

import sys
from pathlib import Path

from judgment.cli.output import emit, say
from judgment.cli.preferences.opening import opened
from judgment.cli.preferences.wiring import environment, place, program
from judgment.kit.clock import utc_now
from judgment.kit.errors import InvalidRequest
from judgment.preferences.adapters.installing import install
from judgment.preferences.block import block
from judgment.preferences.candidates import Candidates
from judgment.preferences.candidates import platforms as queued_platforms
from judgment.preferences.keys import checked_key
from judgment.preferences.local.checking import Finding
from judgment.preferences.local.reading import read_document

BROKEN = 1
NEXT = (
    "Next: `prefs install-hooks --platform claude-code` (or codex) starts your agent's sessions "
    "with your preferences; `prefs capture --help` tells how to keep one."
)


def onboard() -> None:
    """Set up the store, print what it is, and say what to do next."""
    emit(opened().onboard())
    say(NEXT)


def compile_documents() -> int | None:
    """Bring the documents up to date and print what changed; 1 where another store did not answer
    or refused something."""
    found = opened().compile()
    emit(found)
    if found.get("trouble"):
        say(f"Error: {found['trouble']}")
    for name, reason in found.get("refused", {}).items():
        say(f"Error: {name} was refused: {reason}")
    return BROKEN if found.get("trouble") or found.get("refused") else None


def install_hooks(platform: str, target_dir: str | None, uninstall: bool, dry_run: bool) -> None:
    """Put hooks or a block into a host's file, or take them out, and print what was done."""
    text = ""
    if platform == "agents-md" and not uninstall:
        document = read_document(place().root, platform)
        text = block(document, utc_now(), platform).text if document is not None else ""
    report = install(
        platform,
        None if target_dir is None else Path(target_dir),
        program(),
        environ=environment(),
        text=text,
        dry_run=dry_run,
        uninstall=uninstall,
    )
    emit(report.facts())
    for note in report.notes:
        say(note)


def doctor() -> int | None:
    """Print what was looked at and found; 1 where something is broken."""
    found = [*opened().findings(), *_queues()]
    broken = [one for one in found if one.state == "broken"]
    emit(
        {
            "store": place().store,
            "root": str(place().root),
            "healthy": not broken,
            "findings": [{"name": one.name, "state": one.state, "text": one.text} for one in found],
        }
    )
    for one in broken:
        say(f"{one.name}: {one.text}")
    return BROKEN if broken else None


def forget(key: str, yes: bool) -> None:
    """Delete every statement about a key and print what went and what stays."""
    checked_key(key)
    if not yes:
        _confirm(key)
    root = place().root
    noticed = sum(Candidates(root, name).forget(key) for name in queued_platforms(root))
    emit({**opened().forget(key), "noticed": noticed})


def _confirm(key: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidRequest("This deletes for good: give --yes.")
    import click

    click.confirm(f"Delete every statement about {key!a}?", abort=True, err=True)


def _queues() -> list[Finding]:
    root = place().root
    waiting = {name: Candidates(root, name).waiting() for name in queued_platforms(root)}
    return [
        Finding("noticed", "note", f"{count} statements wait for `prefs drain --platform {name}`.")
        for name, count in waiting.items()
        if count
    ]
