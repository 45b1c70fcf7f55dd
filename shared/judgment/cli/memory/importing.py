"""`judgment memory import`: a memory root read whole, then sent, then carried out at once."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from judgment.cli.memory.api import MemoryApi
from judgment.cli.memory.git import found
from judgment.cli.memory.git_history import History, opened
from judgment.cli.memory.outgoing import Outgoing
from judgment.cli.memory.roots import Root, left_out, scan
from judgment.cli.output import emit, say
from judgment.cli.preferences.progress import watched
from judgment.cli.wiring import access
from judgment.contract.memory import ImportOrder
from judgment.kit.clock import utc_now
from judgment.kit.errors import InvalidRequest
from judgment.kit.hashing import canonical_json, sha256_hex
from judgment.memory.transfer.lines import (
    Committed,
    blob_lines,
    commit_lines,
    end_line,
    file_line,
    head_line,
)

AUTHOR = "Judgment <judgment@judgment.invalid>"
MESSAGE = "Import of memory root"


def bring(
    folder: str,
    conflicts: Literal["refuse", "replace"],
    without_history: bool,
    skip_refused: bool,
) -> None:
    """Import the folder and print what came of it. Raises InvalidRequest, TooLarge, Unavailable."""
    api = MemoryApi(access())
    root = scan(Path(folder))
    _tell_refused(root, skip_refused)
    with tempfile.TemporaryFile() as file:
        outgoing = Outgoing(file)
        history = _write(root, outgoing, without_history=without_history)
        import_id = uuid4()
        say(f"Sending {outgoing.bytes / 1e6:.1f} MB in {outgoing.parts} parts.")
        for number, part in enumerate(outgoing.each(), 1):
            api.put_part(import_id, number, part)
        wanted = ImportOrder(parts=outgoing.parts, sha256=outgoing.sha256, conflicts=conflicts)
        answer = api.carry_out(import_id, wanted)
    refused = [{"path": one.path, "why": one.why} for one in root.refused]
    emit({**answer.model_dump(mode="json"), "history": history, "left_out": refused})


def _tell_refused(root: Root, skip_refused: bool) -> None:
    """Say what cannot be imported. Raises InvalidRequest unless it is to be left out."""
    if root.empty_folders:
        say(f"Empty folders are not kept: {root.empty_folders}.")
    if not root.refused:
        return
    say("These cannot be imported:")
    for line in left_out(root.refused):
        say(line)
    if not skip_refused:
        raise InvalidRequest(
            f"{len(root.refused)} of the folder cannot be imported, and nothing was sent;"
            " --skip-refused leaves them out."
        )


def _write(root: Root, outgoing: Outgoing, *, without_history: bool) -> dict[str, Any] | None:
    """Every line of the root; what is to be said of its history."""
    outgoing.write([head_line(utc_now())])
    reached: dict[str, str] = {}
    parent = ""
    told: dict[str, Any] | None = None
    program = found()
    if without_history:
        pass
    elif not root.has_history:
        say("The folder has no git repository of its own: its files come without a history.")
    elif program is None:
        say("There is no git on this machine: the history is left out.")
    else:
        with opened(program, root.place) as history:
            if history is not None:
                parent = _write_history(history, outgoing, reached)
                told = {"commits": len(history.ids), "omitted": dict(history.omitted)}
    _write_files(root, outgoing, reached, parent)
    return told


def _write_history(history: History, outgoing: Outgoing, reached: dict[str, str]) -> str:
    """Each commit behind what it brings; `reached` becomes the files of the last, whose id is
    returned."""
    known: dict[bytes, str] = {}
    last = ""
    commits = history.commits()
    for _ in watched(history.ids, "Reading the history"):
        commit = next(commits)
        changes: dict[str, str | None] = {}
        for path, name in commit.changes.items():
            changes[path] = None if name is None else _sent(history, outgoing, known, name)
        given = Committed(commit.id, commit.author, commit.message, commit.at, changes)
        outgoing.write(commit_lines(given))
        _follow(reached, changes)
        last = commit.id
    for _ in commits:  # none is left: git has to say how it ended
        raise InvalidRequest("The repository changed while it was read.")
    for kind, count in sorted(history.omitted.items()):
        say(f"Left out of the history: {count} changes of {kind}.")
    return last


def _sent(history: History, outgoing: Outgoing, known: dict[bytes, str], name: bytes) -> str:
    """The digest of a content, which is among the lines from now on."""
    if name not in known:
        content = history.content(name)
        known[name] = sha256_hex(content)
        if not outgoing.has(known[name]):
            outgoing.write(blob_lines(known[name], content))
    return known[name]


def _write_files(root: Root, outgoing: Outgoing, reached: Mapping[str, str], parent: str) -> None:
    """The files as they are, and a commit of what the history does not lead to."""
    final: dict[str, str] = {}
    for path in watched(root.files, "Reading the files"):
        content = root.read(path)
        final[path] = sha256_hex(content)
        if not outgoing.has(final[path]):
            outgoing.write(blob_lines(final[path], content))
    changes: dict[str, str | None] = {
        path: sha256 for path, sha256 in final.items() if reached.get(path) != sha256
    }
    changes |= dict.fromkeys(reached.keys() - final.keys())
    if changes:
        # Named by what it does, so that the same root brought again is known.
        said = canonical_json([parent, changes]).encode()
        name = hashlib.sha1(said, usedforsecurity=False).hexdigest()
        outgoing.write(commit_lines(Committed(name, AUTHOR, MESSAGE, utc_now(), changes)))
    outgoing.write(file_line(path, sha256) for path, sha256 in final.items())
    outgoing.write([end_line()])


def _follow(reached: dict[str, str], changes: Mapping[str, str | None]) -> None:
    for path, sha256 in changes.items():
        if sha256 is None:
            reached.pop(path, None)
        else:
            reached[path] = sha256
