"""Memory roots on a disk, as BrainDrive leaves them: odd names, odd bytes, a git history."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

IDENTITY = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "PAA MCP",
    "GIT_AUTHOR_EMAIL": "paa-mcp@local",
    "GIT_COMMITTER_NAME": "PAA MCP",
    "GIT_COMMITTER_EMAIL": "paa-mcp@local",
}

FILES: Mapping[str, bytes] = {
    "AGENT.md": b"# Agent\n",
    "me/profile.md": "# Your Profile\n\nNaïve, 日本, \u202eright to left\n".encode(),
    "me/with spaces and 'quotes'.md": b"a\n",
    "documents/finance/spec.md": b"# Your Goals\r\nCRLF\r\n",
    "documents/finance/budget \N{MONEY WITH WINGS}.csv": b"a;b\n",
    "documents/\u00fcber/leer": b"",
    "documents/no newline": b"at the end",
    "exports/old.zip": bytes(range(256)) * 300,
    "diagnostics/process-guardrails/state/0b.json": b'{"schema_version":1,"revision":4}',
    "diagnostics/audit/2026-01-01.jsonl": b"{}\n",
    "preferences/default.json": b'{"approval_mode":"auto-approve"}\n',
    "skills/.hidden": b"x",
    ".gitignore": b"*.log\n*.zip\n",
    ".gitattributes": b"* text eol=lf\n*.png filter=lfs ident\n",
    "ignored.log": b"kept all the same\n",
    "a.png": b"\x89PNG\r\n\x1a\n\0",
}


def write(root: Path, files: Mapping[str, bytes]) -> None:
    """Put files below a folder."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def git(root: Path, *words: str, stdin: bytes = b"", **settings: str) -> bytes:
    """Run git there as somebody without settings; what it prints."""
    done = subprocess.run(
        ["git", *words],
        cwd=root,
        input=stdin,
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], **IDENTITY, **settings},
    )
    return done.stdout


def commit(root: Path, message: str, author: str = "A <a@b.c>", date: str = "1700000000 +0530"):
    """Commit everything below the root as it is."""
    git(root, "add", "--all", "--force")
    message_file = root / ".git" / "said"
    message_file.write_bytes(message.encode())
    words = ("--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "--no-verify", "-q")
    git(root, "commit", *words, "-F", str(message_file), f"--author={author}", f"--date={date}")


def braindrive_root(root: Path) -> None:
    """A root with a history of deletes, renames, odd authors, a merge, and a dirty work tree."""
    root.mkdir()
    git(root, "init", "-q", "-b", "master")
    write(root, {"AGENT.md": b"first\n", "me/profile.md": b"?\n", "old name.md": b"same bytes\n"})
    commit(root, "Initialize memory root\n")
    (root / "old name.md").rename(root / "new name.md")
    commit(root, "Write new name.md", '  Ünï "odd" O\'Brien  <o@x>', "1000000000 -1100")
    write(root, {"documents/a": b"a file first"})
    commit(root, "Subject\n\nBody with \N{SNOWMAN}\n\n\n", "nobody <>")
    (root / "documents/a").unlink()
    write(root, {"documents/a/b": b"then a folder"})
    commit(root, "")
    git(root, "checkout", "-q", "-b", "side")
    write(root, {"side.md": b"from the side\n"})
    commit(root, "On the side\n")
    git(root, "checkout", "-q", "master")
    write(root, {"main.md": b"from main\n"})
    commit(root, "On main\n")
    git(root, "merge", "-q", "--no-ff", "--no-edit", "side")
    (root / "link").symlink_to("AGENT.md")
    commit(root, "A link\n")
    (root / "link").unlink()
    commit(root, "No link\n")
    write(root, FILES)


def tree(root: Path) -> dict[str, bytes]:
    """Every file below a folder but those of its repository; a link is an error."""
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        if ".git" in folders and Path(folder) == root:
            folders.remove(".git")
        for name in names:
            place = Path(folder) / name
            assert not place.is_symlink()
            found[place.relative_to(root).as_posix()] = place.read_bytes()
    return found


def log(root: Path) -> list[tuple[str, str, str]]:
    """Author, time and whole message of each commit on the first parents' line, oldest first."""
    names = git(root, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    found: list[tuple[str, str, str]] = []
    for name in names:
        head, _, message = git(root, "cat-file", "commit", name.decode()).decode().partition("\n\n")
        author = next(line for line in head.splitlines() if line.startswith("author "))
        who, seconds, _ = author.removeprefix("author ").rsplit(" ", 2)
        found.append((who, seconds, message))
    return found
