"""Docs that cannot rot: links lead somewhere, named files exist, commands are real."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

from infra.catalogue import CATALOGUE
from judgment.profile.signals import SIGNALS
from tests.architecture.pages import CODE, FENCE, LINK, pages, prose
from tests.architecture.source import ROOT, named, tracked
from tests.requirements import BUILT, PROMISES

PAGES = [pytest.param(page, id=named(page)) for page in pages()]
FOLDERS = ("shared/", "functions/", "infra/", "tests/", "docs/", "events/", "skills/", "layers/",
           ".ci/")  # fmt: skip
DECISIONS = ROOT / "docs/decisions"
ADRS = [pytest.param(p, id=p.stem) for p in sorted(DECISIONS.glob("[0-9]*.md"))]
SECTIONS = ["Context", "Decision", "Consequences", "Enforced by"]


@pytest.mark.promise("P1-1-docs")
@pytest.mark.parametrize("page", PAGES)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    broken = [
        to
        for to in (hit["to"] for hit in LINK.finditer(prose(page)))
        if not re.match(r"[a-z]+:|#", to) and not (page.parent / to.split("#")[0]).exists()
    ]
    assert broken == []


def _paths_named(page: Path) -> set[str]:
    return {
        code.split("::")[0].rstrip("/")
        for code in CODE.findall(prose(page))
        if code.startswith(FOLDERS) and not re.search(r"[<>*{}…\s]|NNN", code)
    }


@pytest.mark.promise("P1-1-docs")
@pytest.mark.parametrize("page", PAGES)
def test_every_file_a_page_names_exists(page: Path) -> None:
    missing = {path for path in _paths_named(page) if not (ROOT / path).exists()}
    assert missing == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_task_a_page_names_is_a_task(page: Path) -> None:
    tasks = set(re.findall(r"^  (\w+)", (ROOT / "dev").read_text(encoding="utf-8"), re.MULTILINE))
    named_tasks = set(re.findall(r"\./dev (\w+)", page.read_text(encoding="utf-8")))
    assert named_tasks <= tasks


@pytest.mark.parametrize("page", PAGES)
def test_every_snippet_is_well_formed(page: Path) -> None:
    for found in FENCE.finditer(page.read_text(encoding="utf-8")):
        if found["kind"] == "json":
            json.loads(found["body"])
        if found["kind"] == "python":
            ast.parse(found["body"])
        if found["kind"] == "toml":
            tomllib.loads(found["body"])
        assert found["body"].strip(), named(page)


@pytest.mark.promise("P1-1-docs")
def test_the_index_links_every_page_of_the_docs() -> None:
    index = ROOT / "docs/README.md"
    linked = {
        (index.parent / hit["to"].split("#")[0]).resolve() for hit in LINK.finditer(prose(index))
    }
    there = {ROOT / p for p in tracked() if p.startswith("docs/") and p.endswith(".md")} - {
        index,
        *DECISIONS.glob("[0-9]*.md"),
    }
    assert sorted(map(named, there - linked)) == []


@pytest.mark.promise("P1-1-docs")
@pytest.mark.parametrize("page", ADRS)
def test_a_decision_record_has_its_four_sections_on_one_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(rf"# {page.stem[:3]}[:. ]", text), "the title begins with the number"
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    assert text.count("\n") <= 80


@pytest.mark.parametrize("page", ADRS)
def test_a_decision_names_what_enforces_it(page: Path) -> None:
    enforced = page.read_text(encoding="utf-8").split("## Enforced by")[1]
    assert _paths_named(page) or CODE.search(enforced), "no test, rule or file is named"


@pytest.mark.promise("000-14", "P1-1-docs")
def test_the_index_of_decisions_lists_each_once_by_its_title() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    numbers = [page.stem[:3] for page in sorted(DECISIONS.glob("[0-9]*.md"))]
    assert len(numbers) == len(set(numbers))
    for page in sorted(DECISIONS.glob("[0-9]*.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0]
        words = re.sub(r"^# \d+[:. ]+", "", title)
        assert f"[{page.stem[:3]}]({page.name}) | {words}" in index
    assert "038" in numbers


@pytest.mark.promise("P1-1-docs")
def test_every_ruling_that_is_built_has_a_record_that_applies_it() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    built = {
        p.id.removeprefix("R-") for p in PROMISES if p.table == "rulings.md" and p.part in BUILT
    }
    recorded = set(re.findall(r"^\| (\d+) \| \[", index, re.MULTILINE))
    assert {number for number in built if number.isdigit()} - recorded == set()


@pytest.mark.promise("R-34", "000-14")
def test_records_nobody_here_has_seen_are_replaced_by_texts_of_ours() -> None:
    title = (DECISIONS / "038-rest-and-mcp.md").read_text(encoding="utf-8").splitlines()[0]
    assert "REST" in title
    assert "MCP" in title
    page = (ROOT / "docs/profile.md").read_text(encoding="utf-8")
    rows = {signal.name: signal for signal in SIGNALS if f"| `{signal.name}` |" in page}
    assert len(rows) == 12
    assert all(row.formula in page and row.stimulus in page for row in rows.values())


@pytest.mark.promise("P2-accept-5")
def test_consent_runbooks_and_the_catalogue_of_signals_are_there() -> None:
    consent = (ROOT / "docs/consent.md").read_text(encoding="utf-8")
    assert "personal context" in consent.lower()
    runbooks = {page.stem for page in (ROOT / "docs/runbooks").glob("*.md")}
    assert runbooks >= {"dead-letters", "model-provider", "summaries"}
    letters = (ROOT / "docs/runbooks/dead-letters.md").read_text(encoding="utf-8")
    assert all(f"`{queue.name}`" in letters for queue in CATALOGUE.queues)
    page = (ROOT / "docs/profile.md").read_text(encoding="utf-8")
    assert "<!-- table: signals -->" in page


def test_the_changelog_speaks_of_the_version_that_is_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "docs/changelog.md").read_text(encoding="utf-8")
    assert f"\n## {project['project']['version']}" in changelog
