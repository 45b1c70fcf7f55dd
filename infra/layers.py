"""Lambda layers of third-party code, built by uv for another machine than this one, no Docker.

What a layer holds is a row of `ROOTS`; what that drags in, and every hash, is read from
`requirements.lock`, so that a layer cannot hold what the tests did not run with. A later layer
leaves out what `base` already has. What the Lambda runtime brings itself (boto3) stays out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.uv import find_uv
from judgment.kit.hashing import sha256_hex

if TYPE_CHECKING:
    from infra.catalogue import Layer

ROOTS: dict[Layer, tuple[str, ...]] = {
    "base": ("aws-lambda-powertools", "httpx", "psycopg", "pydantic", "pyjwt"),
    "mcp": ("mangum", "mcp", "starlette"),
    "chat": ("openai", "httpx", "mangum"),
}
RUNTIME_BRINGS = frozenset({"boto3", "botocore", "s3transfer"})

_NAME = re.compile(r"^([a-z0-9][a-z0-9._-]*)==")
_VIA = re.compile(r"^ {4}#(?: via)? +([a-z0-9][a-z0-9._-]*)")


class LayerError(RuntimeError):
    """A layer cannot be built: uv is missing, or it said no (its own words are in the message)."""


@dataclass(frozen=True)
class Target:
    """The interpreter a layer is for. `platform` None is the machine we are on."""

    python: str
    platform: str | None = "aarch64-manylinux_2_28"


@dataclass(frozen=True)
class Pin:
    """One distribution of the lock: its lines as written, and who asked for it."""

    name: str
    text: str
    via: frozenset[str]


def read_lock(text: str) -> dict[str, Pin]:
    """The pins of a `uv pip compile` output by name. Raises LayerError for an unknown form."""
    pins: dict[str, Pin] = {}
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    for block in blocks:
        if match := _NAME.match(block):
            lines = block.splitlines()
            via = {found[1] for line in lines if (found := _VIA.match(line))}
            kept = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
            pins[match[1]] = Pin(match[1], kept, frozenset(via))
    if not pins:
        raise LayerError("the lock holds no pinned distribution")
    return pins


def closure(pins: dict[str, Pin], roots: Iterable[str]) -> set[str]:
    """The roots and all that they need, by name. Raises LayerError for a root without a pin."""
    found: set[str] = set()
    queue = list(roots)
    while queue:
        name = queue.pop()
        if name not in pins:
            raise LayerError(f"{name} is not in requirements.lock")
        if name in found or name in RUNTIME_BRINGS:
            continue
        found.add(name)
        queue += [pin.name for pin in pins.values() if name in pin.via]
    return found


def requirements_of(layer: Layer, lock: str) -> str:
    """The hashed requirement lines of one layer, sorted by name. Raises KeyError, LayerError."""
    pins = read_lock(lock)
    names = closure(pins, ROOTS[layer])
    if layer != "base":
        names -= closure(pins, ROOTS["base"])
    return "\n".join(pins[name].text for name in sorted(names)) + "\n"


def fingerprint(requirements: str, target: Target) -> str:
    """What decides a layer's content: its hashed requirements and its target (64 hex digits)."""
    return sha256_hex(f"{target.python} {target.platform or 'host'}\n{requirements}")


def build_layer(requirements: str, target: Target, folder: Path) -> None:
    """Install the requirements under `folder/python` for `target`. Raises LayerError.

    Wheels only, every file by hash; no byte code and no installer's notes, so that the same lock
    gives the same bytes.
    """
    uv = find_uv()
    if uv is None:
        raise LayerError("uv is needed to build layers: set UV or put it on PATH")
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "requirements.txt"
    listing.write_text(requirements)
    command = [
        *(uv, "pip", "install", "--quiet", "--require-hashes", "--no-deps"),
        *("--only-binary", ":all:", "--no-compile-bytecode", "--no-installer-metadata"),
        *("--link-mode", "copy", "--python", sys.executable, "--python-version", target.python),
        *(("--python-platform", target.platform) if target.platform else ()),
        *("--target", str(folder / "python"), "--requirement", str(listing)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LayerError(f"uv could not build a layer:\n{done.stderr.strip()}")
    for leftover in (folder / "python" / "bin", folder / "python" / ".lock"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)
