"""What the commands print of the local store's answers, in the shapes of the API's."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from judgment.kit.clock import isoformat
from judgment.preferences.consent import stored as step_facts
from judgment.preferences.signals import flags_of, stored

if TYPE_CHECKING:
    from judgment.preferences.explaining import Why
    from judgment.preferences.ledger import Link
    from judgment.preferences.local.forgetting import Forgotten
    from judgment.preferences.local.publishing import Outcome
    from judgment.preferences.model import Signal

__all__ = [
    "forgotten_facts",
    "link_facts",
    "outcome_facts",
    "signal_facts",
    "step_facts",
    "why_facts",
]


def signal_facts(signal: Signal, now: datetime) -> dict[str, Any]:
    """A signal as it was said."""
    found = stored(signal)
    del found["v"]
    found.pop("aliases", None)
    return {**found, "flags": list(flags_of(signal, now))}


def outcome_facts(outcome: Outcome) -> dict[str, Any]:
    """What a compile did, and what it met."""
    report = outcome.report
    return {
        "changed": list(outcome.changed),
        "unchanged": list(outcome.unchanged),
        "removed": list(outcome.removed),
        "superseded": report.superseded,
        "cycles": [list(cycle) for cycle in report.cycles],
        "ignored_supersedes": [
            {"id": one.id, "reason": one.reason} for one in report.ignored_supersedes
        ],
        "quarantined": [
            {"line": one.position, "reason": one.reason} for one in outcome.quarantined
        ],
    }


def link_facts(link: Link) -> dict[str, Any]:
    """A ledger entry and its hash; one that is no JSON as the text that it is."""
    try:
        entry: Any = json.loads(link.entry)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        entry = {"position": link.position, "unreadable": link.entry}
    return {**entry, "hash": link.hash}


def forgotten_facts(found: Forgotten) -> dict[str, Any]:
    """What went and what stays."""
    return {
        "key": found.key,
        "signals": found.signals,
        "versions": found.versions,
        "ledger_entries_that_name_it": found.ledger,
        "still_waiting_in": list(found.waiting),
    }


def why_facts(found: Why, platform: str | None, now: datetime) -> dict[str, Any]:
    """Every candidate, the winner first, and the reason of each."""
    return {
        "key": found.key,
        "platform": platform,
        "as_of": isoformat(now),
        "winner": found.winner,
        "candidates": [
            {
                "signal": signal_facts(one.signal, now),
                "weight": one.weight,
                "stale": one.stale,
                "verdict": one.verdict,
                "by": one.by,
            }
            for one in found.candidates
        ],
    }
