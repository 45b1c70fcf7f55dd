"""The running stack speaks as a BrainDrive client expects, shape by shape (ruling 41).

What differs on purpose is listed in docs/messages.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e import shapes, shapes_of_routes, shapes_of_tools
from tests.e2e.somebody import Somebody
from tests.e2e.talker import Talker
from tests.fakes.model_server import always

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.e2e.running import RunningStack
    from tests.fakes.model_server import ModelServer

pytestmark = pytest.mark.promise("P4-accept-shapes", "R-41", "AC-034")


@pytest.fixture
def me(stack: RunningStack, api: httpx.Client) -> Somebody:
    return Somebody(stack, api)


@pytest.fixture
def talker(me: Somebody, scripted_model: ModelServer) -> Iterator[Talker]:
    """A new owner; the provider's script is put back afterwards."""
    me.chooses_the_scripted_model("message")
    scripted_model.turns.clear()
    yield Talker(me, scripted_model)
    scripted_model.script = always("no script")


@pytest.mark.promise("P4-message", "002-20.1")
def test_what_is_a_message_and_what_is_none(talker: Talker) -> None:
    shapes.check_requests(talker)


@pytest.mark.promise("P4-message", "P4-refuse")
def test_a_conversation_that_is_not_the_owners_is_unknown(
    stack: RunningStack, api: httpx.Client, talker: Talker
) -> None:
    shapes.check_unknown_conversations(talker, Somebody(stack, api))


@pytest.mark.promise("P4-refuse")
def test_nobody_but_an_owner_is_answered(talker: Talker) -> None:
    shapes.check_credentials(talker)


@pytest.mark.promise("P4-message", "002-20.1")
def test_a_streams_head(talker: Talker) -> None:
    shapes.check_head(talker)


@pytest.mark.promise("P4-message-events", "P4-message-kept")
def test_words_and_their_end(talker: Talker) -> None:
    shapes.check_done(talker)


@pytest.mark.promise("P4-message-events", "P4-message-kept", "P4-provider-errors")
def test_a_provider_in_trouble(talker: Talker) -> None:
    shapes.check_error(talker)


@pytest.mark.promise("P4-provider-keys", "P4-refuse")
def test_no_provider(me: Somebody) -> None:
    shapes.check_no_provider(me)


@pytest.mark.promise("P4-message-events", "FR-018")
def test_calls_of_tools(talker: Talker) -> None:
    shapes.check_tool_turn(talker)


@pytest.mark.promise("P4-message-events", "P4-approval", "P4-approval-mode", "R-30")
def test_approvals(talker: Talker) -> None:
    shapes.check_approvals(talker)


@pytest.mark.promise("P4-approval")
def test_approvals_that_were_answered_before(talker: Talker) -> None:
    shapes.check_late_answers(talker)


@pytest.mark.promise("P4-memory-tools", "P4-provider")
def test_what_a_provider_is_sent(talker: Talker) -> None:
    shapes_of_tools.check_offers(talker)


@pytest.mark.promise("P4-memory-tools", "P4-memory-edit")
def test_what_tools_give(talker: Talker) -> None:
    shapes_of_tools.check_results(talker)


@pytest.mark.promise("P4-memory-tools")
def test_what_a_search_leaves_out(talker: Talker) -> None:
    shapes_of_tools.check_search_bounds(talker)


@pytest.mark.promise("P4-memory-tools", "P4-memory")
def test_what_a_history_says(talker: Talker) -> None:
    shapes_of_tools.check_history(talker)


@pytest.mark.promise("P4-memory-tools", "P4-memory-contain", "P4-refuse")
def test_what_tools_cannot_do(talker: Talker) -> None:
    shapes_of_tools.check_failures(talker)


@pytest.mark.promise("P4-message-loop")
def test_what_is_held_against_a_call(talker: Talker) -> None:
    shapes_of_tools.check_guards(talker)


@pytest.mark.promise("P4-conversations")
def test_conversations(talker: Talker) -> None:
    shapes_of_routes.check_conversations(talker)


@pytest.mark.promise("P4-conversations", "P4-starter")
def test_pages(talker: Talker) -> None:
    shapes_of_routes.check_pages(talker)


@pytest.mark.promise("P4-conversations", "P4-starter", "P4-memory-owner")
def test_files_of_pages(talker: Talker) -> None:
    shapes_of_routes.check_files_of_pages(talker)


@pytest.mark.promise("P4-conversations", "P4-overlay", "P4-message-prompt")
def test_the_owners_own_texts(talker: Talker) -> None:
    shapes_of_routes.check_own_texts(talker)


@pytest.mark.promise("P4-conversations")
def test_conversations_and_pages_as_files(talker: Talker) -> None:
    shapes_of_routes.check_formats(talker)
