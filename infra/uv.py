"""The uv to install with."""

from __future__ import annotations

import os
import shutil

from infra.checkout import ROOT


def find_uv() -> str | None:
    """`UV`, else the one that `./dev` brought, else one on PATH."""
    brought = shutil.which("uv", path=str(ROOT / ".local" / "uv" / "bin"))
    return os.environ.get("UV") or brought or shutil.which("uv")
