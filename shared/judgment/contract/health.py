"""What a monitor reads."""

from __future__ import annotations

from typing import Literal

from judgment.contract.wire import ResponseModel


class Health(ResponseModel):
    """The process answers; it says nothing of the parts behind it."""

    status: Literal["ok"] = "ok"
    version: str
