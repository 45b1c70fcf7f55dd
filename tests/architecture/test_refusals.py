"""One tree of refusals, drawn where it is defined, rendered in one place, and no other way out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from judgment.kit import errors
from tests.architecture.source import ROOT, named, python_files, tree


def _drawn() -> dict[str, tuple[int, str]]:
    rows = re.findall(r"── (\w+) +(\d{3}) (\w+)", errors.__doc__ or "")
    return {name: (int(status), code) for name, status, code in rows}


@pytest.mark.promise("000-4-errors")
def test_the_tree_at_the_top_of_the_file_is_the_tree_in_it() -> None:
    defined = {
        name: (kind.status, kind.code)
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and issubclass(kind, errors.Refusal)
        and kind is not errors.Refusal
    }
    assert _drawn() == defined


def _raised(path: Path) -> list[tuple[int, str]]:
    return [
        (node.lineno, ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Raise) and node.exc is not None
    ]


# API Gateway turns this one message, and no class, of an authorizer's exception into a 401.
BARE = "shared/judgment/entry/authorizing.py"


def test_nothing_raises_a_nameless_exception() -> None:
    nameless = {"Exception", "BaseException", "Refusal", "errors.Refusal"}
    found = [
        f"{named(path)}:{line} {name}"
        for path in python_files("shared", "functions")
        if named(path) != BARE
        for line, name in _raised(path)
        if name in nameless
    ]
    assert not found, "\n".join(found)


# Where a refusal becomes what a caller sees: HTTP answers, and tool results over MCP.
JSON_RPC = "functions/mcp/edge.py"
TOOL_FAILURES = "shared/judgment/memory/model.py"
RENDERERS = {"shared/judgment/entry/refusals.py", "functions/mcp/server.py"}


def test_a_refusal_is_rendered_in_one_place_per_protocol() -> None:
    makers = {
        named(path)
        for path in python_files("shared", "functions")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("Problem", "UnauthorizedProblem")
    }
    assert makers <= RENDERERS
    keyed = [
        f"{named(path)}:{node.lineno}"
        for path in python_files("shared", "functions")
        if named(path) not in RENDERERS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Dict)
        and {"code", "message"} <= {ast.literal_eval(k) for k in node.keys if _literal(k)}
    ]
    other = (JSON_RPC, TOOL_FAILURES)
    assert [place for place in keyed if not place.startswith(other)] == []


def _literal(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant)


def test_ideas_know_no_status_codes() -> None:
    """Only the edge and the tree itself speak HTTP."""
    found = [
        f"{named(path)}:{node.lineno}"
        for path in python_files("shared/judgment/profile", "shared/judgment/db")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.keyword | ast.Attribute)
        and "status_code" in (getattr(node, "arg", None), getattr(node, "attr", None))
    ]
    assert not found, "\n".join(found)
    assert (ROOT / "shared/judgment/kit/errors.py").is_file()
