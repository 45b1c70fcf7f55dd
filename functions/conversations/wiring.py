"""What `conversations` touches: Postgres as `judgment_process`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgment.conversation.approvals import Approvals
from judgment.conversation.arriving.loading import load, says_the_same
from judgment.conversation.conversations import Conversations
from judgment.conversation.edits import OwnerEdits
from judgment.conversation.modes import ApprovalModes
from judgment.conversation.projects import Projects
from judgment.conversation.views import ConversationViews
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.clock import utc_now
from judgment.kit.settings import read_settings
from judgment.memory.starter import recognised
from judgment.memory.transfer.exports import Exports
from judgment.memory.transfer.imports import Imports

if TYPE_CHECKING:
    from judgment.conversation.recording import Begin
    from judgment.kit.clock import Clock


@dataclass(frozen=True)
class Settings:
    """Environment of `conversations`."""

    database_url: str


@dataclass(frozen=True)
class Parts:
    """What the door is put together from."""

    conversations: Conversations
    projects: Projects
    edits: OwnerEdits
    approvals: Approvals
    modes: ApprovalModes
    exports: Exports
    imports: Imports


def parts_over(begin: Begin, clock: Clock = utc_now) -> Parts:
    """The door's parts over transactions on behalf of an owner."""
    return Parts(
        Conversations(begin, clock),
        Projects(begin, clock),
        OwnerEdits(begin, clock),
        Approvals(begin, clock),
        ApprovalModes(begin, clock),
        Exports(begin, [ConversationViews()], says_the_same),
        Imports(begin, recognised, load, clock),
    )


def wire() -> tuple[Parts, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="conversations")
    return parts_over(database.transaction), Telemetry("conversations")
