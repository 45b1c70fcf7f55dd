"""Every promise of the seeds, the rulings and the issue: what it says, who keeps it, or why not.

The rows are the Markdown tables of `tests/promises/`, so that people can read them too. A test
cites the promises it shows by marker: `@pytest.mark.promise("000-4", "R-19")`. A row belongs to
one part; a row of a part that is not built is deferred, and one marked with a dash is not ours to
show, with its reason in the note. `tests/architecture/test_promises.py` holds both sides together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent
TABLES = TESTS / "promises"
NOT_HERE = "\N{EN DASH}"

PARTS = {
    1: "An agent reads its owner's judgment",
    2: "The profile lives: rounds, signals, summaries, personal scenarios",
    3: "Preferences: signals, consent, solver, injection",
    4: "Messages and memory",
    5: "The guarded process",
    6: "Proof: the shadow evaluation",
    7: "The console and the browser",
}
BUILT = frozenset({1, 2, 3, 4})


@dataclass(frozen=True)
class Promise:
    """One row. `part` is None for what cannot or need not be shown here; `note` then says why."""

    id: str
    part: int | None
    text: str
    note: str
    table: str

    @property
    def deferral(self) -> str | None:
        """Why no test is owed yet, or None when one is."""
        if self.part is None:
            return self.note
        return None if self.part in BUILT else f"part {self.part}: {PARTS[self.part]}"


def _rows(table: Path) -> Iterator[Promise]:
    for line in table.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or cells[0] in ("id", "---"):
            continue
        identifier, part, text, note = cells
        number = None if part == NOT_HERE else int(part)
        yield Promise(identifier, number, text, note, table.name)


def read_promises(folder: Path = TABLES) -> tuple[Promise, ...]:
    """All rows of all tables, in file order. Raises ValueError for a row without four cells."""
    return tuple(row for table in sorted(folder.glob("*.md")) for row in _rows(table))


PROMISES = read_promises()
BY_ID = {promise.id: promise for promise in PROMISES}


@dataclass(frozen=True)
class Citation:
    """A test, the promises it cites, and whether it is marked never to run or to fail."""

    test: str
    ids: tuple[str, ...]
    skipped: bool


def _marks(decorators: list[ast.expr]) -> tuple[tuple[str, ...], bool]:
    ids: list[str] = []
    skipped = False
    for mark in decorators:
        name = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)
        skipped |= name in ("pytest.mark.skip", "pytest.mark.xfail")
        if name == "pytest.mark.promise" and isinstance(mark, ast.Call):
            ids += [str(ast.literal_eval(argument)) for argument in mark.args]
    return tuple(ids), skipped


def _module_marks(tree: ast.Module) -> tuple[tuple[str, ...], bool]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            value = node.value
            return _marks(value.elts if isinstance(value, ast.List | ast.Tuple) else [value])
    return (), False


def _tests_of(
    body: list[ast.stmt], path: str, above: tuple[tuple[str, ...], bool]
) -> Iterator[Citation]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        ids, skipped = _marks(node.decorator_list)
        ids, skipped = above[0] + ids, above[1] or skipped
        if isinstance(node, ast.ClassDef):
            yield from _tests_of(node.body, f"{path}::{node.name}", (ids, skipped))
        elif re.match(r"test", node.name):
            yield Citation(f"{path}::{node.name}", ids, skipped)


def read_citations(folder: Path = TESTS) -> tuple[Citation, ...]:
    """Every test function below `folder`, read from its source: nothing is imported or run."""
    found: list[Citation] = []
    for path in sorted(folder.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = str(path.relative_to(folder.parent))
        found += _tests_of(tree.body, name, _module_marks(tree))
    return tuple(found)
