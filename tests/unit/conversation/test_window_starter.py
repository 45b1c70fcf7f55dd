"""A small local model's window and the texts that a memory begins with."""

from __future__ import annotations

import json
from datetime import date
from uuid import UUID

import pytest

from judgment.conversation.prompt import PageContext, system_prompt
from judgment.conversation.replay import Unit, answer_text
from judgment.conversation.tools import OFFERS
from judgment.conversation.window import Window, fit
from judgment.llm.chat import ChatMessage, ToolUse
from judgment.memory.starter import STARTER


def read(number: int, path: str) -> list[ChatMessage]:
    call = ToolUse(f"call_{number:08}", "memory_read", {"path": path})
    answer = answer_text("ok", {"path": path, "content": STARTER[path].decode()})
    return [ChatMessage("assistant", "", (call,)), ChatMessage("tool", answer, call_id=call.id)]


@pytest.mark.promise("P4-message-window", "P4-starter-size")
@pytest.mark.parametrize("page", ["finance", "fitness", "career", "relationships", "new-project"])
def test_a_turn_on_an_empty_page_fits_a_small_local_model(page: str) -> None:
    """It reads all that the interview is about, one after the other, and can still speak."""
    folder = f"documents/{page}/"
    listed = [path for path in STARTER if path.startswith(folder)]
    prompt = system_prompt(
        date(2026, 7, 26),
        STARTER["AGENT.md"].decode(),
        None,
        PageContext(page, page.title(), listed),
    )
    own = [f"{folder}{name}.md" for name in ("AGENT", "run-interview", "spec", "plan")]
    reads = [
        one for number, path in enumerate([*own, "me/profile.md"]) for one in read(number, path)
    ]
    now = Unit((ChatMessage("user", "Let's get started"), *reads), UUID(int=1))
    sent = fit(ChatMessage("system", prompt), [], now, Window(4_096, OFFERS)).messages
    assert sent[0].text == prompt
    for path, place in zip(own[:2], (3, 5), strict=True):
        assert json.loads(sent[place].text)["output"]["content"] == STARTER[path].decode()
