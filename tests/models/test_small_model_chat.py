"""A real, weak model at the other end of a conversation: what travels, not whether it is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from judgment.conversation.tools import OFFERS, TOOLS
from judgment.kit.deadline import Deadline
from judgment.llm.chat import ChatMessage, Completed, TextPiece, ToolOffer
from judgment.llm.chat_client import ChatClient
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.message_door import Talk
from tests.models.small_model import CHOICE

if TYPE_CHECKING:
    from judgment.llm.model import ModelChoice
    from tests.databases import TestDatabase
    from tests.models.small_model import SmallModel

PATIENCE_SECONDS = 240.0


class NoKey:
    """Ollama wants none."""

    def key(self, choice: ModelChoice) -> str | None:
        return None


def client(model: SmallModel, **more: Any) -> ChatClient:
    settings = ModelSettings(
        model_message=CHOICE.label, ollama_base_url=model.url, model_timeout_seconds=200.0, **more
    )
    return ChatClient(configured(settings), NoKey())


def said(
    one: ChatClient, messages: Sequence[ChatMessage], tools: Sequence[ToolOffer]
) -> tuple[list[str], Completed]:
    deadline = Deadline.after(PATIENCE_SECONDS)
    *pieces, end = one.converse(CHOICE, "message", messages, tools, deadline=deadline)
    assert isinstance(end, Completed)
    return [piece.text for piece in pieces if isinstance(piece, TextPiece)], end


@pytest.mark.promise("P4-accept-model", "P4-provider")
def test_a_streamed_turn_with_usage(small_model: SmallModel) -> None:
    pieces, end = said(
        client(small_model), [ChatMessage("user", "Say hello in one short sentence.")], ()
    )
    assert len(pieces) > 1
    assert end.text == "".join(pieces)
    assert end.call.prompt_tokens > 0
    assert end.call.completion_tokens > 0
    assert end.finish_reason in ("stop", "length")
    print(f"\n{len(pieces)} pieces, {end.call.prompt_tokens}+{end.call.completion_tokens} tokens")


@pytest.mark.promise("P4-accept-model", "P4-provider-notools")
@pytest.mark.timeout(600)
def test_a_fallback_turn_is_carried_out_or_refused_cleanly(
    small_model: SmallModel, module_database: TestDatabase
) -> None:
    """Whichever action the model picks, the schema holds and the turn ends as turns do."""
    models = client(small_model, model_without_tools=CHOICE.label)
    talk = Talk(module_database, models)
    who = talk.somebody()
    answer = talk.say(who, "List the files in the folder me.", seconds=PATIENCE_SECONDS * 2)
    assert answer.status == 200
    assert answer.last.type in ("done", "error")
    offered = {tool.name for tool in TOOLS}
    for event in answer.events:
        if event.type == "tool-call":
            assert event.name in offered
    for status, output in answer.results:
        assert status == "ok" or output["recoverable"]
    outcomes = "SELECT outcome FROM judgment.model_calls WHERE user_id = %(who)s"
    assert talk.rows(outcomes, who)
    print(f"\n{answer.types}: {answer.text[:100]!r} {answer.results} {answer.last}")
    talk.close()


@pytest.mark.promise("P4-provider-notools")
def test_one_action_is_valid_by_the_schema(small_model: SmallModel) -> None:
    told = [
        ChatMessage("system", "You help an owner with files."),
        ChatMessage("user", "List the files in the folder me."),
    ]
    small = tuple(one for one in OFFERS if one.name in ("memory_list", "memory_read"))
    models = client(small_model, model_without_tools=CHOICE.label)
    pieces, end = said(models, told, small)
    assert end.calls or pieces
    for call in end.calls:
        assert call.name in {one.name for one in small}
        assert isinstance(call.arguments, dict)
    print(f"\n{end.calls or pieces} {end.call}")
