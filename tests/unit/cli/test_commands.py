"""`judgment why` shows terms that add up, or says that they do not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judgment.cli.commands import cli
from judgment.contract.profile import ProfileExplanation, cold_start
from tests.fakes.listening import Listening, QuietHandler

ROOT = Path(__file__).parents[3]
OWNER = uuid.UUID("0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1")
KEY = "sync_" + "k" * 43

pytestmark = pytest.mark.promise("P1-1-cli", "R-22")


def score(total: float, *contributions: tuple[float, float], kept: bool = False) -> dict[str, Any]:
    terms = [
        {"name": f"t{n}", "meaning": "m", "weight": w, "value": v, "contribution": w * v}
        for n, (w, v) in enumerate(contributions)
    ]
    return {"score": total, "formula": "a sum", "kept": kept, "terms": terms}


def explanation(sync: dict[str, Any]) -> dict[str, Any]:
    return {
        "user_id": str(OWNER),
        "sync_score": sync,
        "model_confidence": score(0.5, (1.0, 0.5)),
        "signals": [
            {
                "signal": "occasion_noise",
                "state": "sparse",
                "supporting_decisions": 2,
                "needs": "2 more",
            }
        ],
        "schema_version": "v1",
    }


class Api(Listening):
    """An API on this machine that gives scripted answers and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.seen: list[tuple[str, str | None]] = []
        api = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                api.seen.append((self.path, self.headers["Authorization"]))
                status, body = api.answers[self.path]
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.give(status, content)

        super().__init__(Handler)


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as api:
        yield api


def run(api: Api, *arguments: str) -> Any:
    env = {"SYNC_API_URL": api.url, "SYNC_API_KEY": KEY}
    return CliRunner().invoke(cli, list(arguments), env=env)


PATH = "/api/agent/v1/profile/explanation"


def test_why_prints_each_term_and_their_sum(api: Api):
    api.answers[PATH] = (200, explanation(score(55.0, (50, 0.5), (40, 0.75))))
    result = run(api, "why")
    assert result.exit_code == 0
    assert "50 x 0.5 = 25" in result.output
    assert "sum = 55" in result.output
    assert "occasion_noise" in result.output
    assert api.seen == [(PATH, f"Bearer {KEY}")]


def test_why_as_json_is_the_contract(api: Api):
    api.answers[PATH] = (200, explanation(score(25.0, (50, 0.5))))
    ProfileExplanation.model_validate_json(run(api, "why", "--json").output)


@pytest.mark.parametrize("sync", [score(56.0, (50, 0.5)), {**score(25.0, (50, 0.5)), "terms": []}])
def test_why_says_so_when_the_terms_do_not_add_up(api: Api, sync: dict[str, Any]):
    api.answers[PATH] = (200, explanation(sync))
    result = run(api, "why")
    assert result.exit_code == 1
    assert "add up" in result.output


def test_why_says_so_when_a_term_is_not_its_product(api: Api):
    wrong = score(25.0, (50, 0.5))
    wrong["terms"][0]["value"] = 0.25
    api.answers[PATH] = (200, explanation(wrong))
    assert "weight times its value" in run(api, "why").output


def test_a_score_that_the_sync_app_keeps_needs_no_terms(api: Api):
    api.answers[PATH] = (200, explanation(score(71.0, kept=True)))
    result = run(api, "why")
    assert result.exit_code == 0
    assert "kept by the Sync app" in result.output


def test_an_untrained_profile_is_said_to_be_untrained(api: Api):
    api.answers["/api/agent/v1/profile"] = (200, json.loads(cold_start(OWNER).model_dump_json()))
    assert "not trained yet" in run(api, "profile").output
    assert json.loads(run(api, "profile", "--json").output)["summary_text"] is None


@pytest.mark.promise("P2-5-fresh")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"summary_games_analyzed": 12, "summary_generated_at": "2026-11-30T12:00:00Z"},
            "on 2026-11-30T12:00:00Z from 12 decisions.",
        ),
        ({"summary_games_analyzed": 3}, "just now from 3 decisions."),
        ({"summary_stale": True}, "a newer one is due."),
        ({}, "from an unknown number of decisions."),
    ],
)
def test_the_profile_says_beside_the_block_how_fresh_it_is(
    api: Api, changes: dict[str, Any], said: str
):
    body = json.loads(cold_start(OWNER).model_dump_json())
    trained = {**body, "agent_context_block": "Tends to wait.", **changes}
    api.answers["/api/agent/v1/profile"] = (200, trained)
    result = run(api, "profile")
    assert result.stdout == "Tends to wait.\n"
    assert said in result.stderr


def test_a_block_cannot_steer_the_terminal(api: Api):
    body = json.loads(cold_start(OWNER).model_dump_json())
    api.answers["/api/agent/v1/profile"] = (200, {**body, "agent_context_block": "a\x1b[2Jb\nc"})
    assert "\x1b" not in run(api, "profile").output


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            403,
            {"code": "profile_access_disabled", "message": "Off."},
            "Off. (profile_access_disabled)",
        ),
        (
            401,
            {"code": "unauthorized", "error": "Unauthorized", "message": "No."},
            "No. (unauthorized)",
        ),
        (200, b"<html>", "unknown answer (200)"),
        (502, b"", "unknown answer (502)"),
        (302, b"", "unknown answer (302)"),
    ],
)
def test_a_refusal_is_one_sentence_and_exit_status_1(api: Api, status: int, body: Any, said: str):
    api.answers[PATH] = (status, body)
    result = run(api, "why")
    assert result.exit_code == 1
    assert said in result.output
    assert KEY not in result.output


def test_the_stack_file_stands_in_for_the_environment(api: Api, tmp_path: Path):
    stack = tmp_path / "stack.json"
    stack.write_text(json.dumps({"api_url": api.url, "owners": {"demo": {"agent_key": KEY}}}))
    api.answers[PATH] = (200, explanation(score(25.0, (50, 0.5))))
    assert CliRunner().invoke(cli, ["why", "--stack", str(stack)]).exit_code == 0
    missing = CliRunner().invoke(cli, ["why", "--stack", str(stack), "--owner", "nobody"])
    assert missing.exit_code == 2
    assert "nobody" in missing.output


def test_a_key_is_not_sent_in_the_clear():
    env = {"SYNC_API_URL": "http://api.example", "SYNC_API_KEY": KEY}
    result = CliRunner().invoke(cli, ["why"], env=env)
    assert result.exit_code == 1
    assert "https://" in result.output


def test_missing_settings_are_named():
    result = CliRunner().invoke(cli, ["why"], env={"SYNC_API_URL": "", "SYNC_API_KEY": ""})
    assert result.exit_code == 2
    assert "SYNC_API_URL is required" in result.output


@pytest.mark.promise("R-40")
def test_the_entry_loads_nothing_but_the_standard_library_and_the_kit():
    code = """if True:
        import sys
        before = set(sys.modules)
        import judgment.cli.main
        packages = {name.partition(".")[0] for name in set(sys.modules) - before}
        ideas = {name.split(".")[1] for name in sys.modules if name.startswith("judgment.")}
        print(sorted(packages - set(sys.stdlib_module_names)), sorted(ideas - {"cli", "kit"}))
    """
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "['judgment'] []"


def test_the_commands_need_nothing_but_what_a_plain_installation_brings():
    """`uv tool install judgment` brings no extra; rich and what it needs are httpx's own choice."""
    code = """if True:
        import sys
        before = set(sys.modules)
        import httpx, judgment.cli.api, judgment.cli.commands
        print(*{name.partition(".")[0] for name in set(sys.modules) - before})
    """
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = {line.partition(">")[0] for line in project["dependencies"]}
    assert base == {"pydantic", "httpx", "click"}
    lines = [line for extra in project["optional-dependencies"].values() for line in extra]
    extras = {re.split(r"[^\w-]", line)[0].replace("-", "_") for line in lines}
    loaded = set(printed.stdout.split())
    assert base <= loaded
    assert loaded & (extras | {"psycopg", "botocore", "jwt", "aws_cdk", "mcp_types"}) == set()
