"""`consent grant|revoke|list`."""

from __future__ import annotations

from judgment.cli.output import emit, say
from judgment.cli.preferences.opening import opened
from judgment.kit.errors import InvalidRequest


def grant(
    key_glob: str, audience: str, level: str, expires: str | None, deny: bool, lift: bool
) -> None:
    """Allow, deny, or end a deny, and print the step and what it touches."""
    if deny and lift:
        raise InvalidRequest("Either --deny or --lift.")
    step = {
        "effect": "deny" if deny else "lift" if lift else "allow",
        "key_glob": key_glob,
        "audience": audience,
        "level": level,
        "expires": expires,
    }
    found = opened().decide(step)
    emit(found)
    if lift and not found["touches"]:
        say("There was no such deny: nothing has changed.")


def revoke(key_glob: str, audience: str, level: str) -> None:
    """Take back, and print the step and the grants that it narrows or ends."""
    step = {"effect": "revoke", "key_glob": key_glob, "audience": audience, "level": level}
    found = opened().decide(step)
    emit(found)
    if not found["touches"]:
        say("No grant covered these keys: nothing was open.")


def history() -> None:
    """Print every step of consent, and what stands of it."""
    emit(opened().consent())
