"""Markdown tables, and code in cells."""

from __future__ import annotations

from collections.abc import Iterable

_NONE = "–"  # noqa: RUF001 - the dash that tables for people use


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; a pipe inside a cell is escaped."""
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|") or _NONE for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(values: Iterable[str]) -> str:
    """The values as code, separated by commas."""
    return ", ".join(f"`{value}`" for value in values)
