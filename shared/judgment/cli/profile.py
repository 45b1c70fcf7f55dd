"""`judgment why` and `judgment profile`: what the API says of the owner's judgment."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from judgment.cli.api import get
from judgment.cli.explanation import SumMismatch, explanation_lines
from judgment.cli.output import printable, say, write
from judgment.cli.wiring import settings
from judgment.contract.profile import AgentProfile, ProfileExplanation
from judgment.kit.clock import isoformat

M = TypeVar("M", bound=BaseModel)

REFUSED = 1


def why(stack: str | None, owner: str, as_json: bool) -> int | None:
    """Print both scores term by term; 1 when the terms do not give the score."""
    explanation = _asked(stack, owner, "/api/agent/v1/profile/explanation", ProfileExplanation)
    try:
        lines = list(explanation_lines(explanation))
    except SumMismatch as error:
        say(f"Error: {error}")
        return REFUSED
    write(explanation.model_dump_json(indent=2) if as_json else printable("\n".join(lines)))
    return None


def profile(stack: str | None, owner: str, as_json: bool) -> None:
    """Print the context block, and on stderr how fresh it is."""
    answer = _asked(stack, owner, "/api/agent/v1/profile", AgentProfile)
    if as_json:
        write(answer.model_dump_json(indent=2))
    elif answer.agent_context_block is None:
        write("This profile is not trained yet: play some rounds in Sync.")
    else:
        write(printable(answer.agent_context_block))
        say(_freshness(answer))


def _asked(stack: str | None, owner: str, path: str, model: type[M]) -> M:
    return get(settings(Path(stack) if stack else None, owner), path, model)


def _freshness(profile: AgentProfile) -> str:
    """From when and how many decisions the texts are, for a person beside the block."""
    games, moment = profile.summary_games_analyzed, profile.summary_generated_at
    parts = [
        f"Written by {profile.summary_model_version or 'an unknown author'}",
        "just now" if moment is None else f"on {isoformat(moment)}",
        "from an unknown number of decisions" if games is None else f"from {games} decisions",
    ]
    due = "; the profile has moved since, and a newer one is due" if profile.summary_stale else ""
    return f"{' '.join(parts)}{due}."
