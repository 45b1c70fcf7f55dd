"""The tables of the docs, each made from the table of the code that it describes."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from infra.catalogue import CATALOGUE, Door
from judgment.contract.jobs import EVENTS
from judgment.contract.routes import ROUTES
from judgment.kit.errors import Refusal

ROOT = Path(__file__).resolve().parents[2]
_NONE = "–"  # noqa: RUF001 - the dash that tables for people use


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; a pipe inside a cell is escaped."""
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|") or _NONE for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _code(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _triggers(door: Door) -> str:
    if door.trigger == "http":
        return f"{len(CATALOGUE.routes_of(door.name))} routes"
    if door.trigger == "queue":
        return _code(q.name for q in CATALOGUE.queues if q.consumer == door.name)
    if door.trigger == "schedule":
        return _code(s.name for s in CATALOGUE.schedules if s.door == door.name)
    return door.trigger


def _doors() -> str:
    head = ("Door", "Trigger", "Does", "Database role", "Egress", "MB", "s", "Grants")
    return table(
        head,
        (
            (
                f"`{d.name}`",
                _triggers(d),
                d.purpose,
                _code(filter(None, [d.database_role])),
                d.egress,
                d.memory_mb,
                d.timeout_s,
                _code(d.grants),
            )
            for d in CATALOGUE.doors
        ),
    )


def _settings() -> str:
    names = sorted({name for door in CATALOGUE.doors for name in door.settings})
    rows = ((f"`{n}`", _code(d.name for d in CATALOGUE.doors if n in d.settings)) for n in names)
    return table(("Setting", "Doors"), rows)


def _routes() -> str:
    return table(
        ("Route", "Door", "Who", "Scope", "Limit", "Answers"),
        (
            (
                f"`{r.method} {r.path}`",
                f"`{r.door}`",
                r.auth,
                _code(filter(None, [r.scope])),
                r.limit or "",
                f"{r.status} {r.response.split(':')[1] if r.response else ''}".strip(),
            )
            for r in ROUTES
        ),
    )


def _events() -> str:
    return table(
        ("Event", "Version", "Subject", "Meaning", "Emitted from part"),
        ((f"`{e.type}`", e.version, e.subject, e.meaning, e.part) for e in EVENTS),
    )


def _schedules() -> str:
    return table(
        ("Schedule", "Door", "Every", "Task"),
        (
            (f"`{s.name}`", f"`{s.door}`", f"{s.every_minutes} min", f"`{s.task}`")
            for s in CATALOGUE.schedules
        ),
    )


def _branch(root: type[Refusal]) -> list[type[Refusal]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _branch(child))]


def _when(refusal: type[Refusal]) -> str:
    if refusal is Refusal:
        return "Anything unforeseen: a defect of ours."
    return (refusal.__doc__ or "").splitlines()[0]


def _refusals() -> str:
    tree = {r.code: r for r in _branch(Refusal) if r.__module__ == Refusal.__module__}
    ordered = sorted(tree.values(), key=lambda r: (r.status, r.code))
    return table(
        ("Status", "Code", "When"),
        ((r.status, f"`{r.code}`", _when(r)) for r in ordered),
    )


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


TABLES: dict[str, Callable[[], str]] = {
    "decisions": _decisions,
    "doors": _doors,
    "events": _events,
    "ideas": _ideas,
    "refusals": _refusals,
    "routes": _routes,
    "rulings": _rulings,
    "schedules": _schedules,
    "settings": _settings,
}
