"""Tables of the operator guide: what a deployment is told, and the findings it lives with."""

from __future__ import annotations

from infra.deployment import KEYS, Deployment
from infra.docs.markdown import table
from infra.findings import OPEN_ROUTE, PACK, ROWS


def _keys() -> str:
    return table(
        ("Key", "Default", "Meaning"),
        ((f"`{key}`", _default(key), meaning) for key, meaning in KEYS.items()),
    )


def _default(key: str) -> str:
    value = getattr(Deployment, key, "")
    return "" if value == "" else f"`{str(value).lower() if value is True else value}`"


def _findings() -> str:
    return table(
        ("Rule", "Where", "Why it stays"),
        ((f"`{PACK}-{row.rule}`", f"`{row.where}`", row.reason) for row in (*ROWS, OPEN_ROUTE)),
    )


TABLES = {"deployment-keys": _keys, "findings": _findings}
