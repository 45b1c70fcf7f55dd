"""One question to one agent, and everything its model received on the way to the answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgment.entry.agent_clients import CLIENTS, AgentClient
from tests.e2e.agents.runtimes import KEY_VARIABLE, SKILL, Runtime
from tests.e2e.agents.workbench import Home, programs
from tests.fakes.model_server import ModelServer
from tests.fakes.twin import BODY_MARK, SKILL_MARK, Twin

if TYPE_CHECKING:
    from tests.fakes.model_wire import Turn

QUESTION = "Which electricity contract should I take?"


@dataclass(frozen=True)
class Consultation:
    """The agent's answer and what its model was told, turn by turn."""

    answer: str
    turns: tuple[Turn, ...]

    @property
    def told(self) -> str:
        """All of it as one text."""
        return "\n".join("\n".join([turn.told, *turn.results]) for turn in self.turns)

    @property
    def knew_the_skill(self) -> bool:
        """The host listed the skill to the model."""
        return SKILL_MARK in self.told

    @property
    def read_the_skill(self) -> bool:
        """The model got the skill's whole text."""
        return BODY_MARK in self.told

    @property
    def tools(self) -> list[str]:
        """Our tools by the names under which the model was offered them."""
        names = {tool.name for turn in self.turns for tool in turn.tools}
        return sorted(name for name in names if "sync" in name and "get_" in name)

    @property
    def results(self) -> tuple[str, ...]:
        """What tools had answered by the last turn, the reading of the skill left out."""
        return tuple(r for r in self.turns[-1].results if BODY_MARK not in r)


def install_lines(name: str) -> AgentClient:
    """The row of the table of install lines. Raises StopIteration."""
    return next(client for client in CLIENTS if client.name == name)


def consult(runtime: Runtime, folder: Path, api: str, key: str, *, skill: bool) -> Consultation:
    """Ask `QUESTION` in a new home, connected by the lines that users paste.

    Without `skill` only the server is connected.
    """
    home = Home(folder, programs(runtime.environment), {KEY_VARIABLE: key})
    to_install, to_connect = install_lines(runtime.name).lines(api, SKILL)
    with ModelServer(Twin(runtime.load)) as model:
        runtime.begin(home, model.url)
        if skill:
            home.paste(to_install)
        runtime.connect(home, to_connect)
        answer = runtime.ask(home, QUESTION)
    home.remove()
    return Consultation(answer, tuple(model.turns))
