"""Imports point down, and third parties stay where the architecture puts them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, imports, module, named, python_files

# Top-level package -> the modules that may import it, as prefixes; the reason is the architecture.
HOMES: dict[str, tuple[str, ...]] = {
    "aws_cdk": ("infra.",),
    "cdk_nag": ("infra.",),
    "constructs": ("infra.",),
    "aws_lambda_powertools": ("functions.", "judgment.entry."),
    "fastapi": ("functions.",),
    "starlette": ("functions.", "judgment.entry.", "infra.local."),
    "mangum": ("functions.", "judgment.entry."),
    "uvicorn": ("infra.local.", "infra.emulator."),
    "mcp": ("functions.mcp.",),
    "openai": ("judgment.llm.",),
    "psycopg": ("judgment.db.", "infra.local."),
    "boto3": (
        "functions.",
        "judgment.entry.",
        "judgment.queue.",
        "judgment.access.",
        "judgment.db.",
        "judgment.kit.settings",
        "infra.",
    ),
    "botocore": (
        "functions.",
        "judgment.entry.",
        "judgment.queue.",
        "judgment.access.",
        "judgment.db.",
        "infra.",
    ),
}


@pytest.mark.promise("P1-1")
def test_the_import_linter_finds_every_contract_kept() -> None:
    run = "from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.promise("P1-1")
def test_the_ladder_has_a_rung_for_every_idea() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    ladder = next(c for c in config["contracts"] if c["type"] == "layers")
    assert ladder["exhaustive"] is True
    rungs = {name.strip(" ()") for layer in ladder["layers"] for name in layer.split("|")}
    ideas = {p.parent.name for p in (ROOT / "shared/judgment").glob("*/__init__.py")}
    assert ideas <= rungs


def test_every_idea_with_a_store_keeps_it_from_its_service() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    inside = next(c for c in config["contracts"] if c["name"].startswith("Inside an idea"))
    stores = {f"judgment.{p.parent.name}" for p in (ROOT / "shared/judgment").glob("*/store.py")}
    assert stores <= set(inside["containers"])


@pytest.mark.parametrize("package", sorted(HOMES))
def test_a_third_party_stays_in_its_place(package: str) -> None:
    strangers = [
        f"{named(path)}:{line}"
        for path in python_files("shared", "functions", "infra")
        for line, name in imports(path)
        if name.split(".")[0] == package
        and not f"{module(path)}.".startswith(HOMES[package])
        and not (package == "psycopg" and path.name == "store.py")
    ]
    assert not strangers, "\n".join(strangers)


def test_nothing_imports_relatively() -> None:
    found = [
        named(path)
        for path in python_files("shared", "functions", "infra", "tests")
        if "\nfrom ." in path.read_text(encoding="utf-8")
    ]
    assert not found, "\n".join(found)


def test_the_product_never_imports_its_tests() -> None:
    found = [
        named(path)
        for path in python_files("shared", "functions", "infra")
        for _, name in imports(path)
        if name.split(".")[0] == "tests"
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["functions", "shared", "infra", "tests", "skills", "docs"])
def test_the_given_folders_are_there(folder: str) -> None:
    assert Path(ROOT / folder).is_dir()
