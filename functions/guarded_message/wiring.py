"""What `guarded_message` touches: Postgres as `judgment_process`, models, and secrets with keys."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial

from functions.guarded_message.door import MessageDoor
from judgment.conversation.arriving.loading import says_the_same
from judgment.conversation.recording import Ledger
from judgment.conversation.tools import TurnTools
from judgment.conversation.turn import Pace, Turns
from judgment.conversation.views import ConversationViews
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.entry.secrets import secret
from judgment.kit.clock import utc_now
from judgment.kit.ids import new_id
from judgment.kit.settings import read_settings
from judgment.llm import store as model_rows
from judgment.llm.chat_client import ChatClient
from judgment.llm.keys import StoredKeys
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured
from judgment.memory.tools import MemoryTools
from judgment.memory.transfer.exports import Exports

APPROVAL_LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Settings:
    """Environment of `guarded_message`, beside that of the models.

    `integration_seconds`: how long the caller's side waits, where answers are buffered.
    """

    database_url: str
    integration_seconds: float | None = None


def build() -> MessageDoor:
    """The door over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    config = configured(read_settings(ModelSettings, os.environ))
    database = Database(settings.database_url, application_name="guarded_message")
    ledger = Ledger(
        database.transaction, partial(model_rows.record_calls, new_id=new_id), utc_now, new_id
    )
    views = [ConversationViews()]
    exports = Exports(database.transaction, views, says_the_same)
    memory = MemoryTools(views, utc_now, exports.path)
    turns = Turns(
        ledger,
        ChatClient(config, StoredKeys(config, secret)),
        OwnersChoices(database.transaction, model_rows, config).own,
        TurnTools(memory),
        Pace(time.monotonic, partial(time.sleep, APPROVAL_LOOK_SECONDS)),
    )
    return MessageDoor(turns, Telemetry("guarded_message"), settings.integration_seconds)
