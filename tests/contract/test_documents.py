"""What `./dev docs` writes is valid, complete and current."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from infra.docs.__main__ import main
from infra.docs.markdown import table
from infra.docs.openapi import openapi, schemas
from infra.docs.pages import fill, generated, stale, write
from infra.docs.tables import TABLES
from judgment.contract.profile import cold_start
from judgment.contract.rounds import CANONICAL_THEMES
from judgment.contract.routes import ROUTES
from judgment.kit.ids import new_id

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with one page that asks for a table, everything in it up to date."""
    (tmp_path / "docs").mkdir()
    page = "# Doors\n\n<!-- table: doors -->\nold\n<!-- /table -->\n\nKept.\n"
    (tmp_path / "docs/page.md").write_text(page)
    write(tmp_path)
    return tmp_path


@pytest.mark.promise("P1-2", "P1-1-docs")
def test_no_generated_document_is_behind_the_code() -> None:
    assert stale(ROOT) == []
    assert main(["--check"]) == 0


@pytest.mark.promise("P1-2")
def test_the_openapi_document_is_valid() -> None:
    OpenAPIV31SpecValidator(openapi()).validate()


@pytest.mark.promise("P1-2")
def test_every_route_that_is_not_a_catch_all_is_an_operation() -> None:
    documented = {
        (method.upper(), path)
        for path, operations in openapi()["paths"].items()
        for method in operations
    }
    assert documented == {
        (r.method, r.path.replace("+}", "}")) for r in ROUTES if r.method != "ANY"
    }


def test_operations_have_names_of_their_own_and_say_who_may_call() -> None:
    operations = [o for path in openapi()["paths"].values() for o in path.values()]
    names = [o["operationId"] for o in operations]
    assert len(set(names)) == len(names)
    assert all("401" in o["responses"] for o in operations if o["security"])
    assert all("401" not in o["responses"] for o in operations if not o["security"])


def test_an_agent_read_documents_its_limit_its_scope_and_the_switch() -> None:
    recent = openapi()["paths"]["/api/agent/v1/profile/recent-decisions"]["get"]
    assert recent["x-scope"] == "profile:read"
    assert {"400", "401", "403", "429", "500", "503"} <= recent["responses"].keys()
    limit = next(p for p in recent["parameters"] if p["name"] == "limit")
    assert (limit["schema"]["minimum"], limit["schema"]["maximum"]) == (1, 20)


@pytest.mark.promise("P2-3", "P2-7")
@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("get", "/api/v1/scenarios/next", {"200", "400", "404", "409"}),
        ("get", "/api/v1/scenarios/{scenario_id}", {"200", "404"}),
        ("post", "/api/v1/scenarios/personal", {"201", "400", "404", "409", "429", "503"}),
        ("post", "/api/v1/decisions", {"201", "400", "404", "409", "413", "503"}),
        ("put", "/api/v1/personal-context", {"200", "400", "413"}),
        ("put", "/api/v1/models", {"200", "400", "403"}),
    ],
)
def test_an_owners_route_documents_how_it_refuses(
    method: str, path: str, statuses: set[str]
) -> None:
    assert statuses <= openapi()["paths"][path][method]["responses"].keys()


def test_a_decision_takes_an_idempotency_key_and_next_names_its_themes() -> None:
    paths = openapi()["paths"]
    headers = {p["name"] for p in paths["/api/v1/decisions"]["post"]["parameters"]}
    assert "Idempotency-Key" in headers
    [theme] = [
        p for p in paths["/api/v1/scenarios/next"]["get"]["parameters"] if p["in"] == "query"
    ]
    assert set(CANONICAL_THEMES) == set(theme["schema"]["anyOf"][0]["enum"])


@pytest.mark.parametrize("name", sorted(schemas()))
def test_a_schema_is_valid_and_closed(name: str) -> None:
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == name
    parts = schema["$defs"].values() if "oneOf" in schema else [schema]
    # Of a message unknown outer keys are ignored (ruling 41).
    closed = name != "MessageRequest"
    assert all((part.get("additionalProperties") is False) is closed for part in parts)


@pytest.mark.promise("000-3.2-cold")
def test_the_cold_start_form_satisfies_the_published_schema() -> None:
    validator = Draft202012Validator(schemas()["AgentProfile"])
    value: dict[str, Any] = json.loads(cold_start(new_id()).model_dump_json())
    validator.validate(value)
    assert not validator.is_valid({**value, "mood": "good"})
    assert not validator.is_valid({k: v for k, v in value.items() if k != "summary_text"})


def test_a_page_keeps_its_words_and_gets_its_tables(elsewhere: Path) -> None:
    page = (elsewhere / "docs/page.md").read_text()
    assert page.startswith("# Doors\n")
    assert page.endswith("Kept.\n")
    assert "old" not in page
    assert "| `profile_read` |" in page
    assert fill(page) == page


def test_a_changed_missing_or_left_over_document_is_named_and_mended(elsewhere: Path) -> None:
    assert stale(elsewhere) == []
    openapi_file = elsewhere / "docs/contract/openapi.json"
    openapi_file.write_text("{}")
    (elsewhere / "docs/contract/schemas/Problem.json").unlink()
    (elsewhere / "docs/contract/schemas/Gone.json").write_text("{}")
    behind = {path.name for path in stale(elsewhere)}
    assert behind == {"openapi.json", "Problem.json", "Gone.json"}
    assert {path.name for path in write(elsewhere)} == behind
    assert stale(elsewhere) == []
    assert not (elsewhere / "docs/contract/schemas/Gone.json").exists()


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(KeyError):
        fill("<!-- table: recipes -->\n<!-- /table -->")


def test_a_cell_cannot_break_its_table() -> None:
    text = table(("a", "b"), [("x|y", ""), ("z", 1)])
    assert text.splitlines()[2] == "| x\\|y | – |"  # noqa: RUF001 - the dash for "nothing"


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_has_rows_of_one_width(name: str) -> None:
    lines = TABLES[name]().splitlines()
    widths = {line.replace("\\|", "").count("|") for line in lines}
    assert len(lines) > 2
    assert len(widths) == 1


@pytest.mark.promise("P1-1-docs")
def test_every_table_there_is_stands_in_some_page() -> None:
    pages = "".join(text for path, text in generated(ROOT).items() if path.suffix == ".md")
    assert {name for name in TABLES if f"<!-- table: {name} -->" not in pages} == set()
