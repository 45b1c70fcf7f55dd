"""What our REST API answers about preferences, as the MCP door sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.rest_api import FakeRest

PATH = "/api/agent/v1/preferences"
AS_OF = "2026-06-10T12:00:00Z"

SIGNAL_ID = "0b7d0a63-6f0e-5a39-9d0e-1f6f0a4b2c33"
STATED = {
    "id": SIGNAL_ID,
    "position": 4,
    "kind": "preference",
    "key": "dining.cuisine.thai",
    "spelling": None,
    "scope": "global",
    "value": {"liked": True},
    "strength": 0.8,
    "confidence": 1.0,
    "half_life_days": 90.0,
    "observed_at": "2026-03-12T12:00:00Z",
    "recorded_at": "2026-03-12T12:00:01Z",
    "source": {"platform": "codex", "agent": None, "session": "s-1", "sequence": 0},
    "supersedes": None,
    "flags": [],
}


def entry(key: str = "dining.cuisine.thai", value: Any = None, **changed: Any) -> dict[str, Any]:
    """One entry of a document."""
    return {
        "key": key,
        "spelling": None,
        "kind": "preference",
        "value": {"liked": True} if value is None else value,
        "weight": 0.4,
        "confidence": 1.0,
        "stale": False,
        "provenance": {
            "scope": "global",
            "strength": 0.8,
            "half_life_days": 90.0,
            "observed_at": "2026-03-12T12:00:00Z",
            "n_signals": 1,
            "sources": [SIGNAL_ID],
            "flags": [],
        },
        **changed,
    }


def page(*entries: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A page of the document; with no entries given, one."""
    return {
        "schema_version": "v1",
        "platform": None,
        "audience": "self",
        "as_of": AS_OF,
        "compiled_at": AS_OF,
        "total": max(len(entries), 1),
        "pending": 0,
        "quarantined": 0,
        "entries": list(entries) or [entry()],
        "next_cursor": None,
        **changed,
    }


def why(candidates: int = 1) -> dict[str, Any]:
    """Candidates for a key, the winner first."""
    return {
        "key": STATED["key"],
        "platform": None,
        "as_of": AS_OF,
        "winner": SIGNAL_ID,
        "candidates": [
            {
                "signal": STATED,
                "weight": 0.4,
                "stale": False,
                "verdict": "older" if number else "wins",
                "by": SIGNAL_ID if number else None,
            }
            for number in range(candidates)
        ],
        "omitted": 0,
    }


def solved(**changed: Any) -> dict[str, Any]:
    """A ranking of two options."""
    return {
        "policy": "hard-veto",
        "ranking": [{"option": "thai-spot", "rank": 1, "score": 0.8}],
        "excluded": [{"option": "bbq-barn", "reason": "veto by bob on dining.cuisine.bbq"}],
        "without_consent": [],
        "trace": {"options": ["bbq-barn", "thai-spot"]},
        "words": [],
        **changed,
    }


CAPTURED = {
    "signals": [
        {
            "id": SIGNAL_ID,
            "position": 4,
            "key": "dining.cuisine.thai",
            "scope": "global",
            "observed_at": AS_OF,
            "recorded_at": AS_OF,
            "supersedes": None,
            "flags": [],
            "is_new": True,
        }
    ]
}

CAPTURE = {
    "signals": [
        {
            "key": "dining.cuisine.thai",
            "value": {"liked": True, "exactly": 1e-9, "count": 12345678901234567890},
            "strength": 0.8,
            "source": {"platform": "codex", "session": "s-1"},
            "observed_at": "2026-03-12T12:00:00Z",
        }
    ]
}
SOLVE = {
    "options": [
        {"id": "thai-spot", "keys": ["dining.cuisine.thai"]},
        {"id": "bbq-barn", "keys": ["dining.cuisine.bbq"]},
    ],
    "participants": [{"self": True}, {"id": "bob", "weights": {"dining.cuisine.bbq": -0.8}}],
    "policy": "hard-veto",
}


def with_preferences(rest: FakeRest) -> FakeRest:
    """That REST API, which answers about preferences as well."""
    rest.answers |= {
        PATH: (200, page()),
        f"{PATH}/why": (200, why()),
        f"{PATH}/solve": (200, solved()),
        f"{PATH}/signals": (201, CAPTURED),
    }
    return rest
