"""What the contract exports, and what importing it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import judgment.contract as contract

SOURCE = Path(str(contract.__file__))


def loaded_after(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running the statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_every_exported_name_resolves() -> None:
    assert contract.__all__ == sorted(contract.__all__, key=lambda n: (not n.isupper(), n))
    for name in contract.__all__:
        assert getattr(contract, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = contract.Nothing


def test_types_and_lazy_names_and_exports_are_the_same_list() -> None:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    checked = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("judgment.")
        for alias in node.names
    }
    assert checked == set(contract.__all__)


@pytest.mark.promise("R-40")
@pytest.mark.parametrize(
    "statement",
    [
        "import judgment.contract",
        "import judgment.contract.routes",
        "from judgment.contract import ROUTES, Scope, Principal",
    ],
)
def test_the_tables_of_the_contract_cost_no_pydantic(statement: str) -> None:
    assert "pydantic" not in loaded_after(statement)


@pytest.mark.promise("P1-2")
def test_the_contract_needs_pydantic_and_nothing_else() -> None:
    modules = ", ".join(f"judgment.contract.{p.stem}" for p in sorted(SOURCE.parent.glob("*.py")))
    foreign = {
        name
        for name in loaded_after(f"import {modules}") - set(sys.stdlib_module_names)
        if not name.startswith("_")
    }
    assert foreign - {"judgment"} <= {
        "annotated_types",
        "pydantic",
        "pydantic_core",
        "typing_extensions",
        "typing_inspection",
    }
