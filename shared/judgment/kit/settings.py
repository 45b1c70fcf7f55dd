"""One frozen `Settings` dataclass per door, read from the environment in `wiring.py` alone.

Field names are the variable names in lower case; a field without a default is required.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

T = TypeVar("T")

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"", "0", "false", "no", "off"}


class SettingError(ValueError):
    """A setting is missing or unreadable; the message names the variable, never its value."""


def read_settings(kind: type[T], environ: Mapping[str, str]) -> T:
    """Build the frozen dataclass `kind` from `environ`.

    Supported field types: str, int, float, bool, and each `| None`. An empty variable counts as
    absent. Raises SettingError naming every missing or unreadable variable at once.
    """
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    wrong: list[str] = []
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        raw = environ.get(field.name.upper(), "")
        if raw == "":
            if field.default is dataclasses.MISSING:
                wrong.append(f"{field.name.upper()} is required")
            continue
        try:
            values[field.name] = _convert(raw, hints[field.name])
        except ValueError:
            wrong.append(f"{field.name.upper()} cannot be read as {hints[field.name]}")
    if wrong:
        raise SettingError("; ".join(wrong))
    return kind(**values)


def _convert(raw: str, hint: Any) -> Any:
    kinds = [k for k in (bool, int, float, str) if k is hint or k in getattr(hint, "__args__", ())]
    if not kinds:
        raise ValueError(hint)
    if kinds[0] is bool:
        low = raw.strip().lower()
        if low not in _TRUE | _FALSE:
            raise ValueError(raw)
        return low in _TRUE
    return kinds[0](raw)
