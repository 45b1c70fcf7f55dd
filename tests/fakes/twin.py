"""A script that does what the skill tells, as far as what it received lets it.

It stands for a model that follows instructions literally: without the skill it answers in general
terms; with it, it loads the skill's text where the host has a way, calls the profile tool, and
quotes what came back. Its answers differ only by what the host passed on to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.fakes.model_wire import Call, Reply, Say, Turn

SKILL_MARK = "When your owner weighs a decision"
BODY_MARK = "Act with your owner's judgment"
GENERIC = "In general, compare the total cost, the commitment and how easily you could switch."
WITHOUT = "I answer without your profile, because agent access is switched off. " + GENERIC
UNTRAINED = "Your Sync profile is not trained yet: play a few rounds. " + GENERIC
PERSONAL = "Based on your Sync profile, you tend to: "

Loader: TypeAlias = Callable[[Turn], Reply | None]

_BLOCK = re.compile(r'"agent_context_block"\s*:\s*(null|"(?:[^"\\]|\\.)*")')


def no_loader(turn: Turn) -> Reply | None:
    """For hosts that put the whole skill into the prompt, or none."""
    return None


@dataclass
class Twin:
    """The script. `load` asks the host for the skill's text, or gives None where it cannot."""

    load: Loader = no_loader

    def __call__(self, turn: Turn) -> Reply:
        """The next step of the conversation."""
        tool = turn.tool("get_profile")
        if SKILL_MARK not in turn.told or tool is None:
            return Say(GENERIC)
        if not turn.results and BODY_MARK not in turn.told:
            asked = self.load(turn)
            if asked is not None:
                return asked
        heard = "\n".join(result for result in turn.results if BODY_MARK not in result)
        if "profile_access_disabled" in heard:
            return Say(WITHOUT)
        block = context_block(heard)
        if block is None:
            return Call(tool)
        return Say(PERSONAL + block if block else UNTRAINED)


def context_block(text: str) -> str | None:
    """The context block inside tool results, "" where it is null, None where there is none.

    Hosts wrap results, and some quote the JSON once or twice more.
    """
    for _ in range(3):
        found = _BLOCK.search(text)
        if found:
            return json.loads(found.group(1)) or ""
        text = text.replace('\\"', '"').replace("\\\\", "\\")
    return None
