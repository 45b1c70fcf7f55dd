"""The commands. Each asks the API, prints, and exits with 1 when it was refused."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import click
from pydantic import BaseModel

from judgment import VERSION
from judgment.cli.api import CallFailed, get
from judgment.cli.explanation import SumMismatch, explanation_lines
from judgment.cli.wiring import settings
from judgment.contract.profile import AgentProfile, ProfileExplanation
from judgment.kit.clock import isoformat
from judgment.kit.settings import SettingError

M = TypeVar("M", bound=BaseModel)

_STACK = click.option(
    "--stack",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A local stack's stack.json, instead of SYNC_API_URL and SYNC_API_KEY.",
)
_OWNER = click.option(
    "--owner", default="demo", show_default=True, help="Whose key of the stack file to use."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print what the API answered.")


@click.group()
@click.version_option(VERSION)
def cli() -> None:
    """Read a judgment profile from the command line."""


@cli.command()
@_STACK
@_OWNER
@_JSON
def why(stack: Path | None, owner: str, as_json: bool) -> None:
    """Explain the two scores term by term, and what each signal rests on."""
    explanation = _asked(stack, owner, "/api/agent/v1/profile/explanation", ProfileExplanation)
    try:
        lines = list(explanation_lines(explanation))
    except SumMismatch as error:
        raise click.ClickException(str(error)) from error
    click.echo(explanation.model_dump_json(indent=2) if as_json else _printable("\n".join(lines)))


@cli.command()
@_STACK
@_OWNER
@_JSON
def profile(stack: Path | None, owner: str, as_json: bool) -> None:
    """Print the profile's context block, as an agent receives it."""
    answer = _asked(stack, owner, "/api/agent/v1/profile", AgentProfile)
    if as_json:
        click.echo(answer.model_dump_json(indent=2))
    elif answer.agent_context_block is None:
        click.echo("This profile is not trained yet: play some rounds in Sync.")
    else:
        click.echo(_printable(answer.agent_context_block))
        click.echo(_printable(_freshness(answer)), err=True)


def _asked(stack: Path | None, owner: str, path: str, model: type[M]) -> M:
    try:
        return get(settings(stack, owner), path, model)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    except CallFailed as error:
        raise click.ClickException(_printable(str(error))) from error


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


def _printable(text: str) -> str:
    """Stored text without what could steer a terminal."""
    return "".join(c if c == "\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
