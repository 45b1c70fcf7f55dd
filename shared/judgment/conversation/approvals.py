"""What an owner answers when a model asks: kept once, and kept until a turn acts on it.

Nothing is carried out here. The turn that asked looks for the answer while its stream is open, and
where that has ended, the conversation's next turn does (ruling 30).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.conversations import ApprovalAnswer, OpenApproval, OpenApprovals
from judgment.conversation import store
from judgment.conversation.model import timestamp
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import Conflict, NotFound
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from judgment.contract.messages import Decision
    from judgment.conversation.recording import Begin

NOT_ASKED = "Approval request not found"
DECIDED = "Approval request already decided"


class Approvals:
    """An owner's open questions and their answers."""

    def __init__(self, begin: Begin, clock: Clock = utc_now):
        self._begin = begin
        self._clock = clock

    def decide(self, user_id: UUID, request_id: str, decision: Decision) -> ApprovalAnswer:
        """Keep the answer; the same answer again is answered the same.

        Raises NotFound for a question that this owner was not asked and for a denied one that has
        been told, and Conflict where the answer was another one.
        """
        asked = parse_uuid(request_id)
        if asked is None:
            raise NotFound(NOT_ASKED)
        with self._begin(user_id) as tx:
            kept = store.decide(tx, user_id, asked, decision, self._clock())
        if kept is None or (kept.decision == "denied" and kept.settled_at is not None):
            raise NotFound(NOT_ASKED)
        if kept.decision != decision:
            raise Conflict(DECIDED)
        return ApprovalAnswer(request_id=str(kept.request_id), decision=decision)

    def open(self, user_id: UUID) -> OpenApprovals:
        """What is not settled, in every conversation, the oldest first."""
        with self._begin(user_id) as tx:
            waiting = store.open_approvals(tx, user_id)
        return OpenApprovals(approvals=[_shown(one) for one in waiting])


def _shown(one: store.Approval) -> OpenApproval:
    return OpenApproval(
        request_id=str(one.request_id),
        conversation_id=one.conversation_id,
        tool_name=one.tool_name,
        summary=one.summary,
        decision=one.decision,
        created_at=timestamp(one.created_at),
    )
