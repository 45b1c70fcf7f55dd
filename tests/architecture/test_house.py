"""The house in figures: lengths, names, docstrings, hygiene. The figures are printed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.source import (
    PRODUCT,
    ROOT,
    functions,
    length,
    named,
    python_files,
    tracked,
    tree,
)

FUNCTION_LIMIT = 60
FUNCTION_P90 = 30
FILE_LIMIT = 400
FILE_AIM = 300
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


@pytest.mark.promise("P1-1")
def test_functions_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = sorted(
        (length(node), f"{named(path)}:{node.lineno} {node.name}")
        for path in python_files(*PRODUCT)
        for node in functions(path)
    )
    p90 = sizes[int(len(sizes) * 0.9)][0]
    with capsys.disabled():
        print(f"\nhouse: {len(sizes)} functions, p90 {p90} lines, longest {sizes[-1]}")
    assert p90 <= FUNCTION_P90
    assert [where for size, where in sizes if size > FUNCTION_LIMIT] == []


@pytest.mark.promise("P1-1")
def test_files_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = sorted((_lines(path), named(path)) for path in python_files(*PRODUCT, "tests"))
    over = [where for size, where in sizes if size > FILE_AIM]
    with capsys.disabled():
        print(f"\nhouse: {len(sizes)} files, longest {sizes[-1]}, above {FILE_AIM}: {over}")
    assert [where for size, where in sizes if size > FILE_LIMIT] == []


def test_no_module_or_folder_has_a_name_that_says_nothing() -> None:
    parts = {part for p in tracked() for part in Path(p).with_suffix("").parts}
    assert parts & BANNED_NAMES == set()


def _public(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    found: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = []
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(node)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found += [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node for node in found if not node.name.startswith("_")]


def test_every_public_function_and_class_says_what_its_name_does_not() -> None:
    silent = [
        f"{named(path)}:{node.lineno} {node.name}"
        for path in python_files(*PRODUCT)
        for node in _public(path)
        if not ast.get_docstring(node) and not _is_protocol_stub(node)
    ]
    assert not silent, "\n".join(silent)


def _is_protocol_stub(node: ast.AST) -> bool:
    """An overload or `...` body documented by the class it belongs to."""
    body = getattr(node, "body", [])
    return len(body) == 1 and isinstance(body[0], ast.Expr) and ast.unparse(body[0]) == "..."


def test_every_module_says_what_it_is() -> None:
    silent = [
        named(path)
        for path in python_files(*PRODUCT)
        if not ast.get_docstring(tree(path)) and path.read_text().strip()
    ]
    assert not silent, "\n".join(silent)


def test_every_package_says_in_a_few_lines_what_it_promises() -> None:
    packages = [p for p in python_files("shared/judgment") if p.name == "__init__.py"]
    for path in packages:
        text = ast.get_docstring(tree(path)) or ""
        assert 2 <= len(text.splitlines()) <= 12, named(path)


def _broad(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found: list[str] = []
    for node in ast.walk(tree(path)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        kind = ast.unparse(node.type) if node.type else "bare"
        if kind in ("bare", "Exception", "BaseException") and "#" not in lines[node.lineno - 1]:
            found.append(f"{named(path)}:{node.lineno}")
    return found


def test_a_broad_except_gives_its_reason_on_the_line() -> None:
    found = [place for path in python_files(*PRODUCT, "tests") for place in _broad(path)]
    assert not found, "\n".join(found)


# A probe door is slow because it is asked to be; nothing waits for it by sleeping.
SLOW_ON_PURPOSE = ("tests/probe/",)


def _sleeps(path: Path) -> list[str]:
    """Sleeps outside a `while`: inside one they pace the polling of a condition."""
    paced = {
        inner
        for node in ast.walk(tree(path))
        if isinstance(node, ast.While)
        for inner in ast.walk(node)
    }
    names = {"time.sleep", "sleep", "asyncio.sleep", "anyio.sleep"}
    return [
        f"{named(path)}:{node.lineno}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in names and node not in paced
    ]


def test_no_test_sleeps() -> None:
    found = [
        place
        for path in python_files("tests")
        if not named(path).startswith(SLOW_ON_PURPOSE)
        for place in _sleeps(path)
    ]
    assert not found, "\n".join(found)


def test_nothing_is_a_stub() -> None:
    words = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|HA" + r"CK|NotImplemented" + r"Error)\b")
    found = [
        f"{named(path)}:{number}"
        for path in python_files(*PRODUCT, "tests")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]
    assert not found, "\n".join(found)


def test_no_test_is_skipped_or_expected_to_fail_without_a_reason() -> None:
    found: list[str] = []
    for path in python_files("tests"):
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            if name.endswith(("mark.skip", "mark.xfail", "mark.skipif")):
                reason = next((k for k in node.keywords if k.arg == "reason"), None)
                found += [] if reason else [f"{named(path)}:{node.lineno}"]
    assert not found, "\n".join(found)


CHECKS = re.compile(r"assert|pytest\.raises|pytest\.fail|validate|verify|expect")


def _checkers() -> set[str]:
    """Names of the tests' own functions that check something and are not tests."""
    return {
        node.name
        for path in python_files("tests")
        for node in functions(path)
        if not node.name.startswith("test_") and CHECKS.search(ast.unparse(node))
    }


def _checks(node: ast.AST, checkers: set[str]) -> bool:
    called = {
        getattr(call.func, "attr", getattr(call.func, "id", ""))
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
    }
    return bool(CHECKS.search(ast.unparse(node)) or called & checkers)


def test_every_test_can_fail() -> None:
    """A test without an assertion, of its own or in what it calls, would always pass."""
    checkers = _checkers()
    found = [
        f"{named(path)}:{node.lineno} {node.name}"
        for path in python_files("tests")
        for node in functions(path)
        if node.name.startswith("test_") and not _checks(node, checkers)
    ]
    assert not found, "\n".join(found)


# An example key repeats one character; a real one does not.
SECRETS = re.compile(
    r"sync_(?!(.)\1{42})[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"
    r"|AKIA[0-9A-Z]{16}|BEGIN [A-Z ]*PRIVATE KEY"
)
PLACES = re.compile(
    r"/"
    + r"work/(main|steering)|/"
    + r"root/|/tmp"
    + r"/boot|registry\."
    + r"npmjs|"
    + r"pypi"
    + r"\.org"
)


@pytest.mark.parametrize("pattern", [SECRETS, PLACES], ids=["secrets", "machine places"])
def test_the_repository_holds_no_secret_and_no_place_of_one_machine(
    pattern: re.Pattern[str],
) -> None:
    found: list[str] = []
    for name in tracked():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {hit.group()[:60]}" for hit in pattern.finditer(text)]
    assert not found, "\n".join(found)


TOP = {
    ".ci", ".gitignore", "README.md", "dev", "docs", "events", "functions", "infra", "layers",
    "pyproject.toml", "requirements.lock", "samconfig.toml", "shared", "skills", "tests",
}  # fmt: skip


def test_the_top_level_is_the_given_one() -> None:
    extra = {name.split("/")[0] for name in tracked()} - TOP
    decided = "".join(p.read_text() for p in (ROOT / "docs/decisions").glob("*.md"))
    assert {name for name in extra if f"`{name}`" not in decided} == set()
