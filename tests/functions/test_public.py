"""What is served without a key, and 404 for everything else."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from functions.public.handler import build
from judgment import VERSION
from judgment.contract.errors import Problem
from judgment.entry.observability import Telemetry
from judgment.entry.skill import load_skills, parse_skill
from tests.fakes.events import http_event

if TYPE_CHECKING:
    from judgment.entry.http import HttpDoor

ROOT = Path(__file__).parents[2]
API = "https://api.example"


@pytest.fixture
def door() -> HttpDoor:
    return build(load_skills(), API, Telemetry("public"))


def get(door: HttpDoor, path: str, method: str = "GET") -> tuple[int, str, dict[str, Any]]:
    reply = door(http_event(method, path), None)
    return reply["statusCode"], reply["body"], reply["multiValueHeaders"]


def test_health_tells_the_version_of_the_distribution(door: HttpDoor):
    status, body, _ = get(door, "/health")
    assert (status, json.loads(body)) == (200, {"status": "ok", "version": VERSION})
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION


@pytest.mark.promise("P1-8", "000-6-serve")
@pytest.mark.parametrize(
    "path", ["/skills/sync-skill-v1.md", "/.well-known/skills/sync-judgment/SKILL.md"]
)
def test_the_skill_is_served_byte_for_byte(door: HttpDoor, path: str):
    status, body, head = get(door, path)
    assert status == 200
    assert body == (ROOT / "skills" / "sync-judgment" / "SKILL.md").read_text(encoding="utf-8")
    assert head["Content-Type"] == ["text/markdown; charset=utf-8"]


@pytest.mark.promise("P1-8", "P3-skill")
def test_the_index_lists_what_can_be_fetched_beside_it(door: HttpDoor):
    _, body, _ = get(door, "/.well-known/skills/index.json")
    entries = json.loads(body)["skills"]
    assert [entry["name"] for entry in entries] == ["sync-judgment", "judgment-preferences"]
    for entry in entries:
        folder = ROOT / "skills" / entry["name"]
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
        assert set(entry["files"]) == there
        assert len(entry["description"]) > 57
        for file in entry["files"]:
            status, text, head = get(door, f"/.well-known/skills/{entry['name']}/{file}")
            assert (status, text) == (200, (folder / file).read_text(encoding="utf-8"))
            assert head["Content-Type"] == ["text/markdown; charset=utf-8"]


@pytest.mark.promise("P3-skill")
def test_the_page_tells_how_to_fetch_every_file_of_the_other_skill(door: HttpDoor):
    _, page, _ = get(door, "/docs/agent-skill")
    (skill,) = [one for one in load_skills() if one.name == "judgment-preferences"]
    assert f"{API}/.well-known/skills/{skill.name}" in page
    assert f"for f in {' '.join(skill.files)}; do" in page


@pytest.mark.promise("P1-8", "000-6-serve")
def test_the_page_names_each_runtime_with_its_lines_and_runs_no_script(door: HttpDoor):
    status, body, head = get(door, "/docs/agent-skill")
    assert status == 200
    for name in ("Hermes", "Claude Code", "Codex", "OpenClaw", "opencode", "Cursor", "VS Code"):
        assert f"<h2>{name}" in body
    assert f"{API}/mcp" in body
    assert "<script" not in body
    assert "default-src 'none'" in head["Content-Security-Policy"][0]


def test_the_page_shows_markup_in_a_skill_as_text():
    skill = parse_skill(
        "---\nname: x\ndescription: <b>bold</b> & more\n---\n<script>alert(1)</script>\n"
    )
    _, body, _ = get(build((skill,), API, Telemetry("public")), "/docs/agent-skill")
    assert "<script>" not in body
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in body


@pytest.mark.parametrize(
    "text", ["", "# no head", "---\nname: x\n---\n", "---\nname: x\ndescription: >\n  a\n---\n"]
)
def test_a_skill_whose_head_cannot_be_listed_is_refused(text: str):
    with pytest.raises(ValueError, match="one-line"):
        parse_skill(text)


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing",
        "/api/v1/nothing",
        "/register",
        "/.well-known/oauth-protected-resource",
        "/.well-known/skills/../../etc/passwd",
        "/.well-known/skills/sync-judgment",
        "/.well-known/skills/judgment-preferences/references",
        "/.well-known/skills/judgment-preferences/references/../SKILL.md",
    ],
)
def test_everything_else_is_404_in_the_contracts_form(door: HttpDoor, method: str, path: str):
    status, body, _ = get(door, path, method)
    assert (status, Problem(**json.loads(body)).code) == (404, "not_found")
