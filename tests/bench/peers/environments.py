"""Environments for peers: a virtual environment or a node folder, made from a hashed list.

They live in `.local/peers/<name>`, outside the product's own environment, and are made again
when their list changes. Nothing here compiles, and no install script of a package is run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.checkout import ROOT
from infra.node import NODE, NPM
from infra.uv import find_uv
from tests.bench.peers.peer import PeerUnavailable

HOME = ROOT / ".local" / "peers"
LOCKS = Path(__file__).parent
INSTALL_SECONDS = 600
STAMP = ".installed"


@dataclass(frozen=True)
class PythonEnvironment:
    """A virtual environment holding exactly what `<name>.lock` lists."""

    name: str
    minimum: tuple[int, int] = (3, 11)
    locks: Path = LOCKS
    home: Path = HOME

    def install(self) -> Path:
        """The folder of its programs. Raises PeerUnavailable."""
        lock = self.locks / f"{self.name}.lock"
        folder = self.home / self.name
        programs = folder / "bin"
        python = interpreter(self.minimum)
        digest = _digest(lock, Path(python))
        if _is_current(folder, digest):
            return programs
        shutil.rmtree(folder, ignore_errors=True)
        self.home.mkdir(parents=True, exist_ok=True)
        target = str(programs / "python")
        if uv := find_uv():
            _run(uv, "venv", "--quiet", "--python", python, str(folder))
            _run(uv, "pip", "sync", "--quiet", "--require-hashes", "--python", target, str(lock))
        else:
            _run(python, "-m", "venv", str(folder))
            _run(target, "-m", "pip", "install", "-q", "--require-hashes", "-r", str(lock))
        (folder / STAMP).write_text(digest)
        return programs


@dataclass(frozen=True)
class NodeEnvironment:
    """A folder with the node modules of `<name>/package-lock.json`.

    `setup` names scripts in it to run after all: no package runs its own.
    """

    name: str
    locks: Path = LOCKS
    home: Path = HOME
    setup: tuple[str, ...] = ()

    def install(self) -> Path:
        """The folder that holds `node_modules`. Raises PeerUnavailable."""
        lock = self.locks / self.name / "package-lock.json"
        folder = self.home / self.name
        digest = _digest(lock, lock.with_name("package.json"))
        if _is_current(folder, digest):
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(lock.parent, folder)
        _run(*NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
        for script in self.setup:
            _run(str(NODE), script, cwd=folder)
        (folder / STAMP).write_text(digest)
        return folder


def interpreter(minimum: tuple[int, int]) -> str:
    """A Python of at least `minimum` that starts: ours, one on PATH, or a neighbour of ours.

    Version managers put names on PATH that refuse to start, so each is tried. Raises
    PeerUnavailable.
    """
    if sys.version_info[:2] >= minimum:
        return sys.executable
    for candidate in _neighbours(minimum):
        if _starts(candidate, minimum):
            return candidate
    raise PeerUnavailable(f"needs Python {minimum[0]}.{minimum[1]} or newer, none was found")


def _neighbours(minimum: tuple[int, int]) -> Iterator[str]:
    siblings = Path(sys.base_prefix).parent
    for minor in range(14, minimum[1] - 1, -1):
        name = f"python3.{minor}"
        on_path = shutil.which(name)
        if on_path:
            yield on_path
        yield from sorted(str(path) for path in siblings.glob(f"*/bin/{name}"))


def _starts(python: str, minimum: tuple[int, int]) -> bool:
    check = f"import sys, venv; sys.exit(sys.version_info[:2] < {minimum!r})"
    return subprocess.run([python, "-c", check], capture_output=True).returncode == 0


def _digest(*files: Path) -> str:
    """Of the files' content; an interpreter counts by its path, which is enough to notice."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() if file.suffix else str(file).encode())
    return digest.hexdigest()


def _is_current(folder: Path, digest: str) -> bool:
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text() == digest


def _run(*command: str, cwd: Path | None = None) -> None:
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, "UV_PYTHON_DOWNLOADS": "never", "PATH": path},
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise PeerUnavailable(f"{Path(command[0]).name}: {reason}") from reason
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise PeerUnavailable(f"{Path(command[0]).name}: {' '.join(said[-3:])}")
