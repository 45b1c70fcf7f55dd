"""Which files are generated, and the marked blocks inside pages that people write.

A page asks for a table with a line `<!-- table: doors -->`; everything down to the next
`<!-- /table -->` belongs to the generator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.docs.openapi import openapi, schemas
from infra.docs.tables import TABLES

_BLOCK = re.compile(r"<!-- table: (?P<name>[a-z-]+) -->\n.*?(?P<end><!-- /table -->)", re.DOTALL)


def fill(page: str) -> str:
    """The page with every marked block rewritten. Raises KeyError for an unknown table."""

    def block(found: re.Match[str]) -> str:
        table = TABLES[found["name"]]()
        return f"<!-- table: {found['name']} -->\n\n{table}\n\n{found['end']}"

    return _BLOCK.sub(block, page)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def generated(root: Path) -> dict[Path, str]:
    """Every generated file, relative to `root`, with its content."""
    files = {Path("docs/contract/openapi.json"): _json(openapi())}
    for name, schema in schemas().items():
        files[Path("docs/contract/schemas") / f"{name}.json"] = _json(schema)
    for page in sorted((root / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if _BLOCK.search(text):
            files[page.relative_to(root)] = fill(text)
    return files


def _left_over(root: Path, files: Mapping[Path, str]) -> list[Path]:
    made = (root / "docs/contract").rglob("*.json")
    return sorted(p.relative_to(root) for p in made if p.relative_to(root) not in files)


def stale(root: Path) -> list[Path]:
    """Generated files that are missing, differ, or belong to a type that is gone."""
    files = generated(root)
    differ = [
        path
        for path, text in files.items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]
    return sorted(differ + _left_over(root, files))


def write(root: Path) -> list[Path]:
    """Bring every generated file up to date; returns those that changed."""
    behind = stale(root)
    files = generated(root)
    for path in behind:
        if path not in files:
            (root / path).unlink()
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(files[path], encoding="utf-8")
    return behind
