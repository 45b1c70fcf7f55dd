"""`POST /message`: an owner's message, from its first row to the end of the answer.

Before the first byte: a model is there, the conversation is the owner's, the message is stored and
its conversation attached to the page, what the owner decided since is settled, the prompt is put
together. Until the message is stored a failure is a status, from then on it ends the stream. Then
the loop runs (seed 002 §12.1).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.messages import AnyEvent, ApprovalResult
from judgment.conversation import pages, store
from judgment.conversation.calling import Calls
from judgment.conversation.guards import Guards
from judgment.conversation.knowledge import known
from judgment.conversation.loop import AgentLoop, Prompt
from judgment.conversation.modes import approval_mode
from judgment.conversation.prompt import PageContext, system_prompt
from judgment.conversation.recording import Ledger, Record
from judgment.conversation.replay import units
from judgment.conversation.titles import title_of
from judgment.conversation.tools import OFFERS, TOOLS, TurnTools
from judgment.conversation.window import ContextOverflow, Window, fit, headers
from judgment.kit.errors import NotFound, Unavailable
from judgment.llm.chat import ChatMessage
from judgment.memory import files
from judgment.memory.model import MemoryFailure

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.contract.messages import MessageRequest
    from judgment.contract.models import ModelRole
    from judgment.conversation.model import Message, Project
    from judgment.db.connection import Transaction
    from judgment.kit.deadline import Deadline
    from judgment.llm.chat import ChatModels
    from judgment.llm.model import ModelChoice

RESERVE_SECONDS = 10.0
"""Kept of the function's time to store what came and to say how the turn ended."""
STOP_LOOK_SECONDS = 2.0
"""How often a running turn looks whether its owner has asked it to end."""
NO_MODEL = (
    "No model answers messages here. Set MODEL_MESSAGE to provider:model, and the provider's "
    "address and key, or choose a model of your own at PUT /api/v1/models."
)

OwnChoice = Callable[["Transaction", UUID, "ModelRole"], "ModelChoice | None"]
Gone = Callable[[], bool]


@dataclass(frozen=True)
class Pace:
    """How time passes for a turn: a monotonic clock in seconds, and a wait between two looks."""

    monotonic: Callable[[], float]
    wait: Callable[[], None]


@dataclass(frozen=True)
class BegunTurn:
    """A turn whose message is stored: headers of the answer, and its events, to be run once."""

    headers: Mapping[str, str]
    events: Callable[[Gone], Generator[AnyEvent]]


class Turns:
    """Begins turns."""

    def __init__(
        self, ledger: Ledger, models: ChatModels, own: OwnChoice, tools: TurnTools, pace: Pace
    ):
        self._ledger = ledger
        self._models = models
        self._own = own
        self._tools = tools
        self._pace = pace

    def begin(
        self,
        user_id: UUID,
        request: MessageRequest,
        conversation_id: str | None,
        deadline: Deadline,
    ) -> BegunTurn:
        """Store the message and get everything ready.

        Raises Unavailable when no model is set up or storage is away, NotFound for a conversation
        that is not the owner's; either before anything is written. What goes wrong later is raised
        by the events, after those of what was settled.
        """
        choice = self._choice(user_id)
        begun = self._ledger.clock()
        record = self._stored(user_id, request, conversation_id)
        ends = deadline.less(RESERVE_SECONDS)
        look = _Look(self._ledger, record, begun, self._pace.monotonic)
        gone: list[Gone] = []

        def ended() -> bool:
            return ends.remaining() <= 0 or any(one() for one in gone) or look.stop_requested()

        shown = {"x-conversation-id": record.conversation_id}
        settled: list[AnyEvent] = []
        trouble: Exception | None = None
        loop: AgentLoop | None = None
        try:
            calls = self._calls(record, ended)
            self._settle(calls, settled)
            earlier = self._earlier(record)
            calls.seen = known(earlier) | calls.seen
            prompt = self._prompt(record, request, earlier)
            window = Window(self._models.window(choice), OFFERS)
            with suppress(ContextOverflow):  # the loop says so, as an event
                shown |= headers(fit(prompt.system, prompt.history, prompt.unit(record), window))
            loop = AgentLoop(self._models, choice, prompt, calls, ends)
        except Exception as error:  # noqa: BLE001 - a status would have the message sent twice
            trouble = error

        def events(client_gone: Gone) -> Generator[AnyEvent]:
            gone.append(client_gone)
            yield from settled
            if trouble is not None:
                raise trouble
            if loop is not None:
                yield from loop.events()

        return BegunTurn(shown, events)

    def _choice(self, user_id: UUID) -> ModelChoice:
        with self._ledger.begin(user_id) as tx:
            own = self._own(tx, user_id, "message")
        choice = self._models.choice("message", own)
        if choice is None or not self._models.ready(choice):
            raise Unavailable(NO_MODEL)
        return choice

    def _stored(
        self, user_id: UUID, request: MessageRequest, conversation_id: str | None
    ) -> Record:
        """The owner's message, kept, and its conversation, attached to the page."""
        at = self._ledger.clock()
        with self._ledger.begin(user_id) as tx:
            pages.ensure(tx, user_id, at)
            if conversation_id is None:
                conversation_id = str(self._ledger.new_id())
                title = title_of(request.content)
                store.create_conversation(tx, user_id, conversation_id, title, at)
            elif store.conversation(tx, user_id, conversation_id) is None:
                raise NotFound("Conversation not found")
            record = Record(self._ledger, user_id, conversation_id, self._ledger.new_id())
            record.user(tx, request.content)
            project_id = _page_of(request)
            if project_id is not None:
                store.attach(tx, user_id, project_id, conversation_id)
        return record

    def _calls(self, record: Record, ended: Callable[[], bool]) -> Calls:
        with self._ledger.begin(record.user_id) as tx:
            mode = approval_mode(tx, record.user_id)
        guards = Guards([tool.name for tool in TOOLS])
        return Calls(record, self._tools, guards, mode, ended, self._pace.wait)

    def _settle(self, calls: Calls, told: list[AnyEvent]) -> None:
        """Carry out what the owner decided since an earlier turn; its events come into `told`."""
        record = calls.record
        with self._ledger.begin(record.user_id) as tx:
            waiting = store.open_approvals(tx, record.user_id, record.conversation_id)
        for approval in waiting:
            if approval.decision == "pending":
                continue
            outcome = calls.settle(approval)
            if outcome is not None:
                request_id = str(approval.request_id)
                told.append(ApprovalResult(request_id=request_id, decision=approval.decision))
                told.append(outcome.event(approval.tool_call_id))

    def _earlier(self, record: Record) -> list[Message]:
        with self._ledger.begin(record.user_id) as tx:
            said = store.messages(tx, record.user_id, record.conversation_id)
        return [message for message in said if message.turn_id != record.turn_id]

    def _prompt(
        self, record: Record, request: MessageRequest, earlier: Sequence[Message]
    ) -> Prompt:
        user_id = record.user_id
        with self._ledger.begin(user_id) as tx:
            base, overlay = _text(tx, user_id, "AGENT.md"), _text(tx, user_id, "AGENT-user.md")
            page = _page(tx, user_id, _page_of(request))
        system = system_prompt(self._ledger.clock().date(), base, overlay, page)
        return Prompt(
            ChatMessage("system", system), units(earlier), ChatMessage("user", request.content)
        )


class _Look:
    """Whether the owner asked the turn to end, looked up no more often than is worth a query."""

    def __init__(
        self, ledger: Ledger, record: Record, begun: datetime, monotonic: Callable[[], float]
    ):
        self._ledger = ledger
        self._record = record
        self._begun = begun
        self._monotonic = monotonic
        self._looked = monotonic()
        self._found = False

    def stop_requested(self) -> bool:
        """The answer of the last look; storage that cannot be reached asks nothing."""
        now = self._monotonic()
        if not self._found and now - self._looked >= STOP_LOOK_SECONDS:
            self._looked = now
            record = self._record
            with suppress(Unavailable), self._ledger.begin(record.user_id) as tx:
                self._found = store.stop_requested_since(
                    tx, record.user_id, record.conversation_id, self._begun
                )
        return self._found


def _page_of(request: MessageRequest) -> str | None:
    given = request.metadata.project if request.metadata else None
    return (pages.canonical_id(given) or None) if given else None


def _page(tx: Transaction, user_id: UUID, project_id: str | None) -> PageContext | None:
    if project_id is None:
        return None
    known: Project | None = store.project(tx, user_id, project_id)
    names = [entry.path for entry in files.entries(tx, user_id, f"documents/{project_id}")]
    return PageContext(project_id, known.name if known else None, names)


def _text(tx: Transaction, user_id: UUID, path: str) -> str | None:
    try:
        return files.read(tx, user_id, path).content.decode("utf-8")
    except (MemoryFailure, UnicodeDecodeError):
        return None
