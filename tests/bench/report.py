"""Sections, tables and budgets, and their place between the markers of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

BEGIN = "<!-- bench:begin -->"
END = "<!-- bench:end -->"


@dataclass(frozen=True)
class Table:
    """Rows under a header; every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Budget:
    """One line of the architecture's budgets and what this run says of it."""

    what: str
    limit: str
    measured: str
    met: bool


def missed(budgets: Sequence[Budget]) -> bool:
    """Whether any of them was not met, so that a profile is owed."""
    return not all(one.met for one in budgets)


@dataclass(frozen=True)
class Section:
    """One measurement as it is printed. `profiles` explain its misses: title → text."""

    title: str
    lead: str
    tables: tuple[Table, ...] = ()
    budgets: tuple[Budget, ...] = ()
    profiles: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def render_table(table: Table) -> str:
    """A Markdown table. Raises ValueError where a row and the header differ in length."""
    lines = [_row(table.header), _row(["---"] * len(table.header))]
    for row in table.rows:
        if len(row) != len(table.header):
            raise ValueError(f"{len(row)} cells under {len(table.header)} headings: {row}")
        lines.append(_row(row))
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _verdict(met: bool) -> str:
    return "yes" if met else "**no**"


def render(sections: Sequence[Section], machine: str) -> str:
    """The generated part of the page: machine, budgets of all sections, then each section."""
    budgets = tuple(budget for section in sections for budget in section.budgets)
    verdicts = Table(
        ("budget", "limit", "measured", "met"),
        tuple((one.what, one.limit, one.measured, _verdict(one.met)) for one in budgets),
    )
    parts = [machine, "## Budgets", render_table(verdicts)]
    for section in sections:
        parts += [f"## {section.title}", section.lead]
        parts += [render_table(table) for table in section.tables]
        parts += section.notes
        for title, text in section.profiles.items():
            parts += [f"### {title}", f"```text\n{text.strip()}\n```"]
    return "\n\n".join(part for part in parts if part)


def place(page: str, generated: str) -> str:
    """`page` with `generated` between its markers. Raises ValueError unless both stand once."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError("the page needs one begin marker and, after it, one end marker")
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n\n{generated}\n\n{END}{tail}"
