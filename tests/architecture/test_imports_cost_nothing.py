"""Importing anything needs no environment, no network and no files of ours."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from infra.emulator.cdk import NODE
from tests.architecture.source import ROOT, imports, module, named, python_files, tree

# Sockets are cut below `socket.socket`, so that a library cannot find a way round.
CHILD = """
import importlib, json, os, socket, sys
def cut(*_, **__): raise OSError("network while importing")
for name in ("connect", "connect_ex", "bind", "sendto"):
    setattr(socket.socket, name, cut)
socket.getaddrinfo = socket.create_connection = cut
failed = {}
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
    except BaseException as problem:  # whatever it is, importing must not do it
        failed[name] = f"{type(problem).__name__}: {problem}"
json.dump({"failed": failed, "environment": dict(os.environ)}, sys.stdout)
"""

CDK = {"aws_cdk", "cdk_nag", "constructs"}


def _needs_cdk() -> set[str]:
    """Modules of infra that import CDK, directly or through another module of infra."""
    needs = {module(p): {name for _, name in imports(p)} for p in python_files("infra")}
    found = {name for name, used in needs.items() if {u.split(".")[0] for u in used} & CDK}
    grown = True
    while grown:
        more = {name for name, used in needs.items() if used & found} - found
        found |= more
        grown = bool(more)
    return found


def _import(names: list[str], environment: dict[str, str]) -> dict[str, dict[str, str]]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{CHILD}"],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _names() -> list[str]:
    files = python_files("shared", "functions", "infra")
    return [module(path) for path in files if path.name != "__main__.py"]


@pytest.mark.promise("P1-1", "000-3")
def test_every_module_imports_with_an_empty_environment_and_no_network() -> None:
    needs_cdk = _needs_cdk()
    names = [name for name in _names() if name not in needs_cdk]
    assert len(names) > 100
    result = _import(names, {})
    assert result["failed"] == {}
    assert result["environment"].keys() <= {"LC_CTYPE"}


def test_what_needs_cdk_needs_its_node_and_nothing_else() -> None:
    names = sorted(_needs_cdk() & set(_names()))
    assert "infra.app" in names
    assert _import(names, {"JSII_NODE": str(NODE)})["failed"] == {}


def _reads_environment(path: Path) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("os", "environ"), ("os", "getenv")}
    ]


# Beside wiring: the entry points of processes, which have no wiring above them.
READERS = {
    "shared/judgment/cli/main.py": "the command line is its own wiring",
    "shared/judgment/cli/memory/git.py": "git gets this environment, less what steers it",
    "shared/judgment/entry/streaming.py": "the runtime loop is what Lambda starts",
}


def test_only_wiring_reads_the_environment() -> None:
    found = [
        f"{named(path)}:{line}"
        for path in python_files("shared", "functions")
        if path.name != "wiring.py" and named(path) not in READERS
        for line in _reads_environment(path)
    ]
    assert not found, "\n".join(found)


def test_no_module_reads_the_environment_while_it_is_imported() -> None:
    found = [
        f"{named(path)}:{node.lineno}"
        for path in python_files("shared", "functions", "infra")
        for statement in tree(path).body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If)
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.getenv")
    ]
    wiring = [place for place in found if "/wiring.py" not in place]
    assert wiring == []


def test_the_kit_imports_the_standard_library_only() -> None:
    foreign = {
        f"{named(path)}: {name}"
        for path in python_files("shared/judgment/kit")
        for _, name in imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith("judgment.kit")
    }
    assert {
        f for f in foreign if not f.startswith("shared/judgment/kit/settings.py: boto3")
    } == set()
