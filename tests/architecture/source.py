"""The repository as the architecture tests see it: files, modules, syntax trees, imports."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("shared", "functions", "infra")


@cache
def tracked() -> tuple[str, ...]:
    """Every file git knows or would add, relative to the root: what a clone would hold."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(sorted(p for p in set(listed.stdout.splitlines()) if (ROOT / p).is_file()))


def python_files(*tops: str) -> list[Path]:
    """The Python files below these top-level folders."""
    return [ROOT / p for p in tracked() if p.endswith(".py") and p.startswith(tuple(tops))]


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def named(path: Path) -> str:
    """The path for people: relative to the root."""
    return path.relative_to(ROOT).as_posix()


def module(path: Path) -> str:
    """The dotted name under which the file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "shared" else parts
    return ".".join(parts[:-1] if parts[-1] in ("__init__", "__main__") else parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of each absolute import, wherever in the file it stands."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of the file, nested ones included."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many lines of a function are its docstring."""
    text = ast.get_docstring(node, clean=False)
    return text.count("\n") + 1 if text is not None else 0


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from `def` to its end, the docstring not counted."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1 - docstring_lines(node)
