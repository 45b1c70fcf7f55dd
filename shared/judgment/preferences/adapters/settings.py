"""A host's settings file with our hooks in it, or without: pure functions of its text.

Everything that is not ours keeps its value, its place and its order. A text that is not what the
host expects is refused as it is, never mended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from judgment.kit.errors import Conflict
from judgment.preferences.adapters.hooks import is_ours

Settings = dict[str, Any]


def with_hooks(text: str | None, platform: str, entries: Mapping[str, dict[str, Any]]) -> str:
    """The text with exactly these groups of ours, at the end of their events.

    `text` None or blank is a new file. A text that has them already comes back as it is. Raises
    Conflict where the text is no settings file.
    """
    settings = _read(text)
    hooks = cast(Settings, settings.setdefault("hooks", {}))
    if _ours(hooks, platform) == {event: [group] for event, group in entries.items()}:
        return text or ""
    _take_out(hooks, platform)
    for event, group in entries.items():
        hooks.setdefault(event, []).append(group)
    return _written(settings, text)


def without_hooks(text: str | None, platform: str) -> str | None:
    """The text without any hook of ours. Raises Conflict where the text is no settings file."""
    if text is None or not text.strip():
        return text
    settings = _read(text)
    hooks = cast(Settings, settings.get("hooks", {}))
    if not _ours(hooks, platform):
        return text
    _take_out(hooks, platform)
    if not hooks:
        del settings["hooks"]
    return _written(settings, text)


def _read(text: str | None) -> Settings:
    if text is None or not text.strip():
        return {}
    try:
        settings: object = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Conflict(f"It is not valid JSON ({error}). It was left as it is.") from None
    if not isinstance(settings, dict):
        raise Conflict("It holds no JSON object. It was left as it is.")
    hooks = cast(Settings, settings).get("hooks", {})
    if not isinstance(hooks, dict) or not all(
        map(_is_event, cast(dict[str, object], hooks).values())
    ):
        raise Conflict('Its "hooks" are not in the shape that is known. It was left as it is.')
    return cast(Settings, settings)


def _is_event(groups: object) -> bool:
    return isinstance(groups, list) and all(
        isinstance(group, dict) and isinstance(cast(Settings, group).get("hooks"), list)
        for group in cast(list[object], groups)
    )


def _ours(hooks: Settings, platform: str) -> dict[str, list[Settings]]:
    """By event, the groups that hold a hook of ours."""
    found = {
        event: [group for group in groups if any(is_ours(platform, h) for h in group["hooks"])]
        for event, groups in hooks.items()
    }
    return {event: groups for event, groups in found.items() if groups}


def _take_out(hooks: Settings, platform: str) -> None:
    """Take our hooks out, then the groups and events that only they were in."""
    for event, mixed in _ours(hooks, platform).items():
        for group in mixed:
            group["hooks"] = [hook for hook in group["hooks"] if not is_ours(platform, hook)]
        hooks[event] = [g for g in hooks[event] if g["hooks"] or not any(g is m for m in mixed)]
        if not hooks[event]:
            del hooks[event]


def _written(settings: Settings, before: str | None) -> str:
    """As JSON, indented as it was before."""
    found = re.search(r"\n([ \t]+)\"", before or "")
    indent = found[1] if found else 2
    try:
        text = json.dumps(settings, ensure_ascii=False, allow_nan=False, indent=indent)
        if not _is_unicode(text):
            text = json.dumps(settings, allow_nan=False, indent=indent)
    except (ValueError, RecursionError):
        raise Conflict("It holds what cannot be written again. It was left as it is.") from None
    return text + "\n"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> Settings:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
