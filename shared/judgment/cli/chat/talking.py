"""`judgment chat`: one message, or a conversation line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from judgment.cli.chat.answering import is_somebody_there
from judgment.cli.chat.client import Gateway, checked_id
from judgment.cli.chat.screen import Screen, short
from judgment.cli.chat.session import Session
from judgment.cli.running import DONE, REFUSED
from judgment.cli.wiring import access
from judgment.kit.errors import InvalidRequest, Refusal
from judgment.kit.settings import SettingError

if TYPE_CHECKING:
    from judgment.cli.chat.answering import Approve

HELP = """\
/stop       end the turn that runs in this conversation, here or elsewhere
/approvals  what waits for your answer
/pages      your pages
/new        begin another conversation
/quit       leave (so does Ctrl-D)
Any other line is a message; one that begins with a slash may follow a blank.
While an answer comes, Ctrl-C ends it and a second Ctrl-C leaves."""


def chat(
    message: str | None,
    conversation: str | None,
    project: str | None,
    approve: Approve,
    as_json: bool,
    stack: str | None,
    owner: str | None,
) -> int:
    """One turn with `message`, else a conversation at the terminal; its exit status."""
    found = access(stack, owner)
    if found.sync_owner_token is None:
        raise SettingError("SYNC_OWNER_TOKEN is required")
    if message is None and not is_somebody_there():
        raise InvalidRequest("Give a MESSAGE, or run it at a terminal.")
    if conversation is not None:
        checked_id(conversation)
    screen = Screen(as_json=as_json)
    gateway = Gateway(found.sync_api_url, found.sync_owner_token)
    session = Session(gateway, screen, approve, conversation, project)
    return _talk(session, screen) if message is None else _one(session, screen, message)


def _one(session: Session, screen: Screen, message: str) -> int:
    """One turn; whatever becomes of it, the conversation it was in is named."""
    try:
        return DONE if session.say(message) else REFUSED
    finally:
        if session.conversation_id is not None:
            screen.say(f"Conversation {short(session.conversation_id)}")


def _talk(session: Session, screen: Screen) -> int:
    screen.say("Say something, or /help.")
    commands: dict[str, Callable[[], None]] = {
        "/stop": session.stop,
        "/approvals": session.answer_open,
        "/pages": session.pages,
        "/new": lambda: _begin_anew(session, screen),
        "/help": lambda: screen.say(HELP),
    }
    while (line := _line()) is not None and line.strip() != "/quit":
        try:
            if not line:
                continue
            if not line.startswith("/"):
                session.say(line)
            elif line.strip() in commands:
                commands[line.strip()]()
            else:
                screen.say(f"There is no {short(line.strip())}; /help lists what there is.")
        except Refusal as refusal:
            screen.say(f"Error: {short(refusal.message)}")
    return DONE


def _begin_anew(session: Session, screen: Screen) -> None:
    session.conversation_id = None
    screen.say("The next message begins another conversation.")


def _line() -> str | None:
    """The next line of the person; None when they have gone. The prompt never reaches a file."""
    try:
        if sys.stdout.isatty():
            with suppress(ImportError):
                import_module("readline")  # makes `input` edit lines
            return input("> ")
        sys.stderr.write("> ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        return line.removesuffix("\n") if line else None
    except EOFError:
        return None
