"""The running stack with a real, weak model in every role: whatever it says, owners are served."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest

from infra.local.places import Places
from tests.e2e.running import WINDOW_SECONDS, RunningStack, run_dev
from tests.e2e.somebody import Somebody
from tests.models.small_model import CHOICE

if TYPE_CHECKING:
    from tests.models.small_model import SmallModel


THINKS_SECONDS = 140.0
"""A little more than `summary_regen` may take; on one thread the model uses most of it."""


@pytest.fixture(scope="module")
def stack(small_model: SmallModel) -> Iterator[RunningStack]:
    """A stack of its own, whose operator gave the small model every role."""
    state = Path(tempfile.mkdtemp(prefix="judgment-small-model-"))
    options = ["--state", str(state), "--port", "0", "--parent", str(os.getpid())]
    model = {
        "MODEL_SUMMARY": CHOICE.label,
        "MODEL_SCENARIO": CHOICE.label,
        "OLLAMA_BASE_URL": small_model.url,
        "SUMMARY_WINDOW_SECONDS": str(WINDOW_SECONDS),
    }
    result = run_dev("up", "--detach", *options, **model)
    assert result.returncode == 0, result.stderr
    try:
        yield RunningStack.read(Places(state))
    finally:
        run_dev("down", "--state", str(state))


@pytest.fixture
def me(stack: RunningStack) -> Iterator[Somebody]:
    with httpx.Client(base_url=stack.api_url, timeout=60) as api:
        yield Somebody(stack, api)


def _calls(stack: RunningStack, me: Somebody, role: str) -> list[Any]:
    with psycopg.connect(stack.database_url) as connection:
        return connection.execute(
            "SELECT provider, outcome, prompt_tokens FROM judgment.model_calls"
            " WHERE user_id = %s AND role = %s",
            (me.user_id, role),
        ).fetchall()


@pytest.mark.promise("P2-accept-1", "P2-1-real")
def test_the_summary_is_the_models_or_composer_1s_and_says_whose(
    stack: RunningStack, me: Somebody
) -> None:
    for _ in range(4):
        me.decides(me.next_round(), confidence=0.7, response_ms=30_000)
    read = me.awaits_summary_of(4, THINKS_SECONDS)
    assert read["summary_text"]
    assert read["summary_model_version"].startswith(("composer-1", "ollama:"))
    calls = _calls(stack, me, "summary")
    assert calls
    assert {provider for provider, _, _ in calls} == {"ollama"}
    print(f"\n{read['summary_model_version']}: {[outcome for _, outcome, _ in calls]}")


@pytest.mark.promise("P2-accept-4", "P2-1-real")
def test_a_personal_round_keeps_the_rules_or_is_a_canonical_one(
    stack: RunningStack, me: Somebody
) -> None:
    me.ask("PUT", "/api/v1/personal-context", {"personal_context": "I run a small bakery."})
    made = me.ask("POST", "/api/v1/scenarios/personal", status=201)
    assert made["personalized"] is (made["theme"] == "personal")
    assert len(made["options"]) >= 4
    calls = _calls(stack, me, "scenario")
    assert calls
    assert me.decides(made)["games_played"] == 1
    print(f"\n{made['theme']}: {[outcome for _, outcome, _ in calls]}")
