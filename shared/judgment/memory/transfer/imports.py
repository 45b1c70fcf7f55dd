"""A memory that arrives: parts are put by, then carried out in one transaction, all or nothing.

The commits of the import are appended to the history in their order, those that are there already
(by their id) left out. Then the files are brought to where the import says they end. Files that the
import does not have stay. What rows of another idea speak for (conversations, the list of pages)
is theirs to take in, and no conflict.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.memory import ImportOrder, MemoryImported
from judgment.kit.errors import Conflict, InvalidRequest, TooLarge
from judgment.memory.transfer import store
from judgment.memory.transfer.lines import Blob, Committed, FileLine
from judgment.memory.transfer.names import Names, arriving, is_of_rows
from judgment.memory.transfer.replaying import Replay
from judgment.memory.transfer.staging import staged

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.kit.clock import Clock

MOST_BYTES = 512 * 1024 * 1024
"""Bytes of an import, as lines."""
NAMED = 20
"""Conflicts that a refusal lists."""
_CARRIED_OUT = b"carried out "

Begin = Callable[[UUID], AbstractContextManager["Transaction"]]
Recognised = Callable[[str, str], bool]
"""Whether a path holds, by its digest, what a starter pack put there."""
Arrived = Callable[["Transaction", UUID, Mapping[str, bytes]], int]
"""Takes what arrived into its own rows; how many conversations it brought."""


class Imports:
    """Imports of memories."""

    def __init__(self, begin: Begin, recognised: Recognised, arrived: Arrived, clock: Clock):
        self._begin = begin
        self._recognised = recognised
        self._arrived = arrived
        self._clock = clock

    def part(self, user_id: UUID, import_id: UUID, part: int, data: bytes) -> None:
        """Put a part by; again replaces it. The first part of an import ends the one before.

        Raises TooLarge when the import outgrows MOST_BYTES.
        """
        with self._begin(user_id) as tx:
            if part == 1:
                store.drop_others(tx, user_id, import_id)
            store.keep_part(tx, user_id, import_id, part, data)
            if store.staged_bytes(tx, user_id, import_id) > MOST_BYTES:
                raise TooLarge(f"An import has at most {MOST_BYTES} bytes.")

    def carry_out(self, user_id: UUID, import_id: UUID, order: ImportOrder) -> MemoryImported:
        """Import the parts. The same order again is answered the same, for as long as it is known.

        Raises NotFound for a part that is not there, InvalidRequest, TooLarge, and Conflict, which
        names files that differ. Then nothing has changed.
        """
        with self._begin(user_id) as tx:
            revision = store.lock_memory(tx, user_id)
            known = store.part(tx, user_id, import_id, 1) or b""
            if known.startswith(_CARRIED_OUT):
                return _answered(known, order)
            replay = Replay(tx, user_id, revision)
            final = _replayed(tx, user_id, import_id, order, replay)
            current = store.current_files(tx, user_id)
            leaving = self._leaving(current, final, order)
            changed = replay.settle(current, final, leaving, self._clock())
            answer = MemoryImported(
                import_id=import_id,
                files=changed,
                commits=replay.appended,
                conversations=self._arrived(tx, user_id, replay.contents(final)),
                kept=len(current.keys() - final.keys() - leaving),
            )
            store.drop_parts(tx, user_id, import_id)
            store.keep_part(tx, user_id, import_id, 1, _remembered(order, answer))
        return answer

    def _leaving(
        self, current: Mapping[str, store.Stand], final: Mapping[str, str], order: ImportOrder
    ) -> set[str]:
        """Paths of the owner's that make way for others. Raises Conflict."""
        names = Names(final)
        leaving = {path for path in current.keys() - final.keys() if names.clash(path)}
        differing = {
            path
            for path in current.keys() & final.keys()
            if current[path].sha256 != final[path] and not is_of_rows(path)
        }
        refused = sorted(
            path for path in leaving | differing if not self._recognised(path, current[path].sha256)
        )
        if refused and order.conflicts == "refuse":
            more = f" and {len(refused) - NAMED} more" if len(refused) > NAMED else ""
            raise Conflict(f"These files differ from yours: {', '.join(refused[:NAMED])}{more}.")
        return leaving


def _replayed(
    tx: Transaction, user_id: UUID, import_id: UUID, order: ImportOrder, replay: Replay
) -> dict[str, str]:
    """Append what the parts bring; the files that they end with, path to digest."""
    final: dict[str, str] = {}
    names = Names()
    for line in staged(tx, user_id, import_id, order):
        match line:
            case Blob():
                replay.bring(line)
            case Committed():
                replay.append(line)
            case FileLine(path, sha256):
                if names.clash(arriving(path)):
                    raise InvalidRequest("Two files of the import have one path.")
                replay.require(sha256)
                names.add(path)
                final[path] = sha256
            case _:
                pass
    return final


def _remembered(order: ImportOrder, answer: MemoryImported) -> bytes:
    """What stands for the parts of an import that was carried out, until it is retired."""
    said = {"order": order.model_dump(), "answer": answer.model_dump(mode="json")}
    return _CARRIED_OUT + json.dumps(said).encode()


def _answered(known: bytes, order: ImportOrder) -> MemoryImported:
    """The answer that was given. Raises Conflict where another order was carried out."""
    said = json.loads(known.removeprefix(_CARRIED_OUT))
    if said["order"] != order.model_dump():
        raise Conflict("This import was carried out already, by another order.")
    return MemoryImported.model_validate_json(json.dumps(said["answer"]))
