"""Tables of the house itself: ideas, decision records, and which record applies which ruling."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from infra.checkout import ROOT
from infra.docs.markdown import table


def _ideas() -> str:
    """The ideas from the top of the ladder down, each in the words of its own package."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ladder = next(
        c
        for c in config["tool"]["importlinter"]["contracts"]
        if c.get("containers") == ["judgment"]
    )
    names = [n.strip(" ()") for layer in ladder["layers"] for n in layer.split("|")]
    folder = ROOT / "shared/judgment"
    there = [name for name in names if (folder / name / "__init__.py").is_file()]
    return table(
        ("Idea", "What it is"), ((f"`judgment.{n}`", _first_words(folder / n)) for n in there)
    )


def _first_words(package: Path) -> str:
    source = (package / "__init__.py").read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(source)) or ""
    return " ".join(text.split("\n\n")[0].split())


def _records() -> list[tuple[Path, str]]:
    found = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    return [(path, path.read_text(encoding="utf-8")) for path in found]


def _link(record: Path) -> str:
    return f"[{record.stem[:3]}]({record.name})"


def _decisions() -> str:
    titles = (
        (path, re.sub(r"^# \d+[:. ]+", "", text.splitlines()[0])) for path, text in _records()
    )
    return table(("Record", "Decision"), ((_link(path), title) for path, title in titles))


def _rulings() -> str:
    """Which records speak of which ruling: "ruling 6", "rulings 6, 19 and 33"."""
    named: dict[int, list[str]] = {}
    for path, text in _records():
        runs = re.findall(r"[Rr]ulings?\s+((?:\d+(?:,\s*|\s+and\s+)?)+)", text)
        numbers = {int(n) for run in runs for n in re.findall(r"\d+", run)}
        for number in numbers:
            named.setdefault(number, []).append(_link(path))
    return table(("Ruling", "Records"), ((n, ", ".join(named[n])) for n in sorted(named)))


TABLES = {"decisions": _decisions, "ideas": _ideas, "rulings": _rulings}
