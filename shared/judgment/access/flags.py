"""The kill switch of seed 000 §10.1, `agent_profile_access_enabled`: global and per owner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from judgment.contract.flags import AgentAccessFlag
from judgment.kit.errors import NotFound

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_GONE = "The flag agent_profile_access_enabled is not stored."


class FlagRows(Protocol):
    """The flag statements, run as `judgment_worker`."""

    def agent_access_flag(self, tx: Transaction) -> dict[str, Any] | None:
        """The stored value of the flag."""
        ...

    def set_agent_access_flag(self, tx: Transaction, value: dict[str, Any]) -> bool:
        """Replace the value of the flag; False when its row is gone."""
        ...


class KillSwitch:
    """Reads and sets the switch. Turning it on for an owner never overrules an off elsewhere."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Transaction]], rows: FlagRows):
        self._begin = begin
        self._rows = rows

    def read(self) -> AgentAccessFlag:
        """The switch as stored. Raises NotFound if its row is gone."""
        with self._begin() as tx:
            value = self._rows.agent_access_flag(tx)
        if value is None:
            raise NotFound(_GONE)
        return AgentAccessFlag.model_validate(value, strict=False, extra="ignore")

    def set(self, flag: AgentAccessFlag) -> AgentAccessFlag:
        """Store the switch; it holds from the next request on. Raises NotFound if it is gone."""
        with self._begin() as tx:
            stored = self._rows.set_agent_access_flag(tx, flag.model_dump(mode="json"))
        if not stored:
            raise NotFound(_GONE)
        return flag
