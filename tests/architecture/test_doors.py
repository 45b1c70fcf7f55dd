"""A door is a row of the catalogue and its five places; the one forgotten is named."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.catalogue import CATALOGUE, MODEL_SETTINGS, Door
from tests.architecture.source import ROOT, functions, imports, length, python_files, tree

DOORS = [pytest.param(door, id=door.name) for door in CATALOGUE.doors]

# What importing a door's handler may load beside the standard library, by layer and by door.
OURS = {"judgment", "functions"}
PYDANTIC = {
    "annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection",
}  # fmt: skip
POWERTOOLS = {"aws_lambda_powertools", "jmespath"}
POSTGRES = {"psycopg", "psycopg_binary", "cython_runtime"}
AWS = {"boto3", "botocore", "certifi", "s3transfer", "dateutil", "six", "urllib3", "jmespath"}
LIGHT = OURS | POWERTOOLS | POSTGRES | AWS | {"typing_extensions"}
JSON_DOOR = LIGHT | PYDANTIC
SDK = {
    "anyio", "click", "cryptography", "httpx2", "idna", "mangum", "mcp", "mcp_types",
    "opentelemetry", "python_multipart", "sniffio", "sse_starlette", "starlette", "uvicorn",
}  # fmt: skip
ALLOWED = {
    "authorizer": LIGHT,
    "mcp": JSON_DOOR | SDK,
    "guarded_message": JSON_DOOR | {"mangum"},
}
NEVER = {"openai", "httpx", "fastapi", "aws_cdk", "numpy", "pytest", "moto", "hypothesis"}


# Without its files a door fails `test_a_door_has_all_its_places` alone, which names them.
STANDING = [
    pytest.param(door, id=door.name)
    for door in CATALOGUE.doors
    if (ROOT / "functions" / door.name / "wiring.py").is_file()
]


def folder(door: Door) -> Path:
    """Where the door's code is."""
    return ROOT / "functions" / door.name


def handler_file(door: Door) -> Path:
    """The file that the catalogue names as the door's handler."""
    return ROOT / (door.handler.replace(".", "/") + ".py")


@pytest.mark.promise("P1-6", "P1-1")
@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_all_its_places(door: Door) -> None:
    examples = sorted((ROOT / "events" / door.name).glob("*.json"))
    places = {
        "handler": handler_file(door).is_file(),
        "wiring": (folder(door) / "wiring.py").is_file(),
        "package": (folder(door) / "__init__.py").is_file(),
        f"events/{door.name}/*.json": bool(examples),
        f"tests/functions/test_{door.name}.py": (
            ROOT / "tests/functions" / f"test_{door.name}.py"
        ).is_file(),
        "a row in docs/architecture.md": (
            f"| `{door.name}` |" in (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
        ),
    }
    assert [place for place, there in places.items() if not there] == []


def test_every_folder_of_functions_is_a_door_of_the_catalogue() -> None:
    folders = {p.parent.name for p in (ROOT / "functions").glob("*/__init__.py")}
    assert folders <= {door.name for door in CATALOGUE.doors}
    events = {p.name for p in (ROOT / "events").iterdir() if p.is_dir()}
    assert events <= {door.name for door in CATALOGUE.doors}


@pytest.mark.parametrize("path", sorted((ROOT / "events").rglob("*.json")), ids=lambda p: p.stem)
def test_an_example_event_is_an_object(path: Path) -> None:
    assert isinstance(json.loads(path.read_text(encoding="utf-8")), dict)


@pytest.mark.parametrize("door", STANDING)
def test_a_doors_handler_is_a_few_lines(door: Door) -> None:
    text = handler_file(door).read_text(encoding="utf-8")
    names = {
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    } | {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert "handler" in names
    assert text.count("\n") <= 120


@pytest.mark.parametrize("door", STANDING)
def test_a_doors_wiring_is_small_and_alone_reads_settings(door: Door) -> None:
    wiring = folder(door) / "wiring.py"
    assert sum(length(node) for node in functions(wiring)) <= 40
    for path in folder(door).glob("*.py"):
        uses = {name for _, name in imports(path)}
        if path.name != "wiring.py":
            assert "judgment.kit.settings" not in uses


def _setting_names(wiring: Path) -> tuple[set[str], set[str]]:
    """Fields of the wiring's `Settings`: all of them, and those without a default."""
    named: set[str] = set()
    required: set[str] = set()
    for node in ast.walk(tree(wiring)):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Settings"):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    named.add(field.target.id.upper())
                    required |= set() if field.value else {field.target.id.upper()}
    return named, required


@pytest.mark.parametrize("door", STANDING)
def test_a_door_reads_the_settings_the_catalogue_fills_and_needs_no_other(door: Door) -> None:
    named, required = _setting_names(folder(door) / "wiring.py")
    if set(MODEL_SETTINGS) <= set(door.optional):
        of_models, needed = _setting_names(ROOT / "shared/judgment/llm/settings.py")
        named, required = named | of_models, required | needed
    assert required <= set(door.required)
    assert set(door.required) <= named
    assert named - set(door.required) == set(door.optional), "what an operator may set"


def test_doors_are_strangers_to_each_other() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files("functions/")
        for _, name in imports(path)
        if name.startswith("functions.") and name.split(".")[1] != path.parent.name
    ]
    assert not found, "\n".join(found)


def _loaded(door: Door) -> set[str]:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules)\n"
        f"import {door.handler}\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, env={}, check=False
    )
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split()) - set(sys.stdlib_module_names)
    return {name for name in names if not name.startswith(("_", "judgment-", "__editable"))}


@pytest.mark.promise("P1-1", "P1-6")
@pytest.mark.parametrize("door", STANDING)
def test_a_door_loads_nothing_beyond_its_allow_list(door: Door) -> None:
    loaded = _loaded(door)
    assert loaded - ALLOWED.get(door.name, JSON_DOOR) == set()
    assert loaded & NEVER == set()
    if "mcp" not in door.layers:
        assert "mcp" not in loaded


@pytest.mark.promise("R-28")
def test_egress_follows_from_what_a_door_needs() -> None:
    for door in CATALOGUE.doors:
        if door.grants:
            assert door.egress != "none", f"{door.name} has grants and no way to AWS"
        if {"OIDC_ISSUER", "API_URL"} & set(door.settings) and door.layers != ("contract", "base"):
            assert door.egress == "internet", door.name
        if "OIDC_ISSUER" in door.settings:
            assert door.egress == "internet", door.name


@pytest.mark.promise("P1-1")
def test_a_door_with_a_database_has_a_role_and_its_address() -> None:
    for door in CATALOGUE.doors:
        assert (door.database_role is not None) == ("DATABASE_URL" in door.settings), door.name


PLACE = re.compile(
    r"(?<![a-z])(local(?!e|.supplier)|emulat|ministack)|127\.0\.0\.1|aws_endpoint_url",
    re.IGNORECASE,
)


def _spoken(path: Path) -> set[str]:
    """Every name and text in a file's code; its comments and docstrings are not code."""
    nodes = list(ast.walk(tree(path)))
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return {
        value
        for node in nodes
        if id(node) not in docs
        for _, value in ast.iter_fields(node)
        if isinstance(value, str)
    }


@pytest.mark.promise("P1-9")
def test_no_door_and_nothing_below_it_knows_where_it_runs() -> None:
    """The command line is no part of a door: it may send a key in the clear to this machine.

    And Ollama's own default address is a fact about Ollama, wherever we run; so is the name of a
    file of Claude Code's. The lexicon holds what owners say of suppliers. The store in files on an
    owner's machine, `preferences.local`, is no part of a door either, and no door imports it.
    """
    told = {"http://127.0.0.1:11434/v1", ".claude/settings.local.json"}
    apart = ("judgment/cli/", "judgment/preferences/local/", "lexicon.py")
    asking = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in python_files("functions/", "shared/judgment")
        if not any(part in path.as_posix() for part in apart)
        for word in _spoken(path) - told
        if PLACE.search(word)
    ]
    assert not asking, "\n".join(asking)
    for path in python_files("functions/"):
        assert not any("preferences.local" in name for _, name in imports(path)), path


def test_the_pattern_knows_a_place_from_other_words() -> None:
    places = ("is_local", "LOCAL_MODE", "http://localhost:1", "emulated", "AWS_ENDPOINT_URL")
    assert all(PLACE.search(word) for word in places)
    others = ("local_supplier", "a local supplier", "locale", "nonlocal_")
    assert not any(PLACE.search(word) for word in others)


@pytest.mark.promise("P1-1-idempotency")
def test_the_routes_that_honour_an_idempotency_key_are_those_whose_doors_read_it() -> None:
    reading = {
        path.parent.name
        for path in python_files("functions/")
        if ".idempotency_key()" in path.read_text(encoding="utf-8")
    }
    assert reading == {route.door for route in CATALOGUE.routes if route.idempotent}
