"""The internal judgment profile: typed views over documents that may be older than this code.

`PlayerDecisionProfile` keeps each jsonb column as it was stored, unknown keys and all, and reads
typed values out of it. Whatever is missing or of the wrong type reads as sparse or neutral;
nothing here raises on a stored row (issue part 1, deliverable 4; seed 000 §3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, cast, get_args

from judgment.contract.profile import (
    CATEGORIES,
    CONTEXT_BLOCK_LIMIT,
    SUMMARY_LIMIT,
    Category,
    Level,
    Speed,
)
from judgment.profile import values
from judgment.profile.shapes import (
    CategoryPattern,
    Comparison,
    ContextRule,
    OwnPattern,
    Pull,
    SignalReading,
    Tally,
    Trend,
)

RULES_LIMIT = 20
PULLS_LIMIT = 16
NUMBERS_LIMIT = 32
KIND_LIMIT = 80

SIGNALS_STORED = (
    "reasoning_style_distribution",
    "attention_distribution",
    "confidence_calibration",
    "timing_signature",
    "persuadability",
    "peer_reading",
    "dissent_profile",
    "authenticity",
    "learning_rate",
    "occasion_noise",
    "self_awareness",
    "name_bias_signal",
)
"""The twelve of seed 000 §3.1: a signal has one name, in the column, the table and the wire."""

PATTERN_COLUMNS = ("category_patterns", "context_rules", "option_preferences")
DOCUMENT_COLUMNS = (*SIGNALS_STORED, *PATTERN_COLUMNS)
_EVIDENCE = (
    "n",
    "evidence",
    "sample_size",
    "sample_count",
    "samples",
    "observations",
    "games",
    "games_in_category",
    "count",
)

NO_READING = SignalReading()


@dataclass(frozen=True)
class PlayerDecisionProfile:
    """A row of `player_decision_profiles`; `documents` holds every jsonb column as stored."""

    games_analyzed: int
    documents: Mapping[str, Any]
    summary_text: str | None = None
    summary_generated_at: datetime | None = None
    summary_model_version: str | None = None
    agent_context_block: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @cached_property
    def signals(self) -> Mapping[str, SignalReading]:
        """The reading of each of the twelve; sparse where nothing usable is stored."""
        stored = self.documents
        return {name: read_signal(stored.get(name)) for name in SIGNALS_STORED}

    def signal(self, name: str) -> SignalReading:
        """The reading of one of the twelve. Raises KeyError for any other name."""
        return self.signals[name]

    @cached_property
    def patterns(self) -> tuple[CategoryPattern, ...]:
        """The categories with at least one decision, most decided first."""
        stored, tallies = (
            self.documents.get(c) for c in ("category_patterns", "option_preferences")
        )
        found = (
            read_pattern(category, own, _by_category(tallies, category))
            for category in CATEGORIES
            if (own := _by_category(stored, category))
        )
        return tuple(sorted((p for p in found if p.decisions), key=lambda p: -p.decisions))

    @cached_property
    def rules(self) -> tuple[ContextRule, ...]:
        """The stored context rules, surest first, at most twenty."""
        read = (read_rule(v) for v in values.sequence(self.documents.get("context_rules"))[:200])
        rules = sorted((r for r in read if r is not None), key=lambda r: -r.confidence)
        return tuple(rules[:RULES_LIMIT])


def profile_from_row(row: Mapping[str, Any]) -> PlayerDecisionProfile:
    """Read `to_jsonb` of a row of `player_decision_profiles`, of any age and any health."""
    known = {"user_id", "id", "games_analyzed", "created_at", "updated_at", *DOCUMENT_COLUMNS}
    texts = ("summary_text", "summary_generated_at", "summary_model_version", "agent_context_block")
    return PlayerDecisionProfile(
        games_analyzed=values.count(row.get("games_analyzed")),
        documents={c: row[c] for c in DOCUMENT_COLUMNS if row.get(c) is not None},
        summary_text=values.text(row.get("summary_text"), SUMMARY_LIMIT),
        summary_generated_at=_moment(row.get("summary_generated_at")),
        summary_model_version=values.label(row.get("summary_model_version")),
        agent_context_block=_block(row.get("agent_context_block")),
        extra={k: v for k, v in row.items() if k not in known and k not in texts},
    )


def read_signal(value: object) -> SignalReading:
    """A stored signal: `evidence` from any of the names apps use for it, else 0 (sparse)."""
    if value is None:
        return NO_READING
    stored = values.mapping(value)
    numbers = _numbers(stored)
    shares = _numbers(values.mapping(stored.get("shares")), 0, 1) if "shares" in stored else {}
    if not shares:
        shares = {k: v for k, v in numbers.items() if k not in _EVIDENCE and 0 <= v <= 1}
    return SignalReading(values.count(values.first(stored, *_EVIDENCE)), numbers, shares)


def read_rule(value: object) -> ContextRule | None:
    """A stored context rule, or None where trigger or shift is missing."""
    stored = values.mapping(value)
    trigger = values.name(values.first(stored, "trigger", "condition", "context"))
    shift = values.label(values.first(stored, "behavior_shift", "shift", "behavior"))
    if trigger is None or shift is None:
        return None
    return ContextRule(trigger, shift, values.number(stored.get("confidence"), 0, 1) or 0.0)


def read_pattern(
    category: Category, stored: Mapping[str, object], tallies: Mapping[str, object]
) -> CategoryPattern:
    """A stored category pattern, ours or an older app's bare labels."""
    pulls = _pulls(stored.get("drivers"))
    secondary = (values.name(v) for v in values.sequence(stored.get("secondary_drivers")))
    names = list(tallies)[:PULLS_LIMIT]
    found = {name: _tally(values.mapping(tallies[name])) for name in names}
    decisions = values.count(values.first(stored, "decisions", *_EVIDENCE))
    kind = values.mapping(stored.get("kind"))
    of_kind = min(values.count(kind.get("n")), decisions)
    return CategoryPattern(
        category=category,
        decisions=decisions,
        pulls=pulls,
        primary=values.name(stored.get("primary_driver")),
        secondary=tuple(name for name in secondary if name is not None)[:PULLS_LIMIT],
        risk=_one_of(stored.get("risk_tolerance"), get_args(Level), "medium"),
        risk_numbers=_numbers(values.mapping(stored.get("risk"))),
        speed=_one_of(stored.get("decision_speed"), get_args(Speed), "balanced"),
        speed_numbers=_numbers(values.mapping(stored.get("speed"))),
        own=_own(values.mapping(stored.get("own_pattern"))),
        kind=values.label(kind.get("title"), KIND_LIMIT) if of_kind else None,
        of_kind=of_kind,
        comparison=_comparison(values.mapping(stored.get("comparison"))),
        trend=_trend(values.mapping(stored.get("trend"))),
        trend_text=values.label(stored.get("recent_trend")),
        tallies={name: tally for name, tally in found.items() if tally is not None},
    )


def _by_category(value: object, category: Category) -> Mapping[str, object]:
    if isinstance(value, dict):
        return values.mapping(values.mapping(cast("object", value)).get(category))
    for row in map(values.mapping, values.sequence(value)[:50]):
        if row.get("category") == category:
            return row
    return {}


def _numbers(
    source: Mapping[str, object], low: float = -1e12, high: float = 1e12
) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, raw in list(source.items())[: NUMBERS_LIMIT * 4]:
        name, amount = values.name(key), values.number(raw, low, high)
        if name is not None and amount is not None and len(found) < NUMBERS_LIMIT:
            found[name] = amount
    return found


def _pulls(value: object) -> tuple[Pull, ...]:
    rows: list[Mapping[str, object]]
    if isinstance(value, dict):
        bare = values.mapping(cast("object", value))
        rows = [{"name": k, "weight": v} for k, v in bare.items()]
    else:
        rows = [values.mapping(v) for v in values.sequence(value)]
    pulls: list[Pull] = []
    for row in rows[:PULLS_LIMIT]:
        name, weight = values.name(row.get("name")), values.number(row.get("weight"), -1e6, 1e6)
        if name is not None and weight is not None:
            share = values.number(row.get("share"), 0, 1) or 0.0
            pulls.append(Pull(name, weight, values.number(row.get("sd"), 1e-6, 1e6), share))
    return tuple(pulls)


def _tally(row: Mapping[str, object]) -> Tally | None:
    differed = values.count(row.get("differed"))
    if not differed:
        return None
    return Tally(
        differed=differed,
        took_most=values.count(row.get("took_most")),
        chance_most=values.number(row.get("chance_most"), 0, differed) or 0.0,
        took_least=values.count(row.get("took_least")),
        chance_least=values.number(row.get("chance_least"), 0, differed) or 0.0,
    )


def _own(row: Mapping[str, object]) -> OwnPattern | None:
    of = values.count(row.get("of"))
    chance = values.number(row.get("chance"), 0, of)
    if not of or chance is None:
        return None
    return OwnPattern(min(values.count(row.get("hits")), of), of, chance)


def _comparison(row: Mapping[str, object]) -> Comparison | None:
    over, under = values.name(row.get("over")), values.name(row.get("under"))
    ratio = values.number(row.get("ratio"), 1, 1_000)
    if over is None or under is None or ratio is None:
        return None
    return Comparison(over, under, ratio)


def _trend(row: Mapping[str, object]) -> Trend | None:
    driver, decisions = values.name(row.get("driver")), values.count(row.get("decisions"))
    early, late = values.number(row.get("early")), values.number(row.get("late"))
    if driver is None or early is None or late is None or not decisions:
        return None
    return Trend(driver, early, late, decisions)


def _one_of(value: object, allowed: tuple[Any, ...], neutral: Any) -> Any:
    return value if isinstance(value, str) and value in allowed else neutral


def _moment(value: object) -> datetime | None:
    if isinstance(value, str) and len(value) <= 64:
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def _block(value: object) -> str | None:
    block = values.text(value, CONTEXT_BLOCK_LIMIT)
    if block is None or len(block.encode()) <= CONTEXT_BLOCK_LIMIT:
        return block
    note = "\n… cut here: the stored text was longer than an agent may be given."
    room = CONTEXT_BLOCK_LIMIT - len(note.encode())
    return block.encode()[:room].decode(errors="ignore").rsplit("\n", 1)[0] + note
