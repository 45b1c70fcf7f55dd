"""Preferences on the wire: signals in, documents out, consent, ledger, group decisions (seed 001).

What a signal may hold is decided by `judgment.preferences.signals` for every door and the command
line alike; the types here give its shape.
"""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from judgment.contract.wire import RequestModel, ResponseModel

KEY_LIMIT = 200
CURSOR_LIMIT = 512
BATCH_LIMIT = 100
"""Signals of one request; all of them are kept or none."""
PAGE_LIMIT = 200
PLATFORM = r"^[a-z0-9][a-z0-9_-]{0,39}$"
AUDIENCE_LIMIT = 100
OPTION_LIMIT = 100
PARTICIPANT_LIMIT = 50

Kind = Literal["preference", "fact"]
Purpose = Literal["read", "solve"]
Policy = Literal["weighted-sum", "hard-veto", "maximin", "nash", "least-misery"]


class PreferencesQuery(RequestModel):
    """Which preferences: for a platform, below a key, of another owner, for an audience.

    `owner` asks for another owner's, who must have consented to `user:<your id>`. `audience` asks
    for your own as that audience may see them.
    """

    platform: str | None = Field(default=None, pattern=PLATFORM)
    below: str | None = Field(default=None, min_length=1, max_length=KEY_LIMIT)
    owner: UUID | None = None
    audience: str | None = Field(default=None, min_length=1, max_length=AUDIENCE_LIMIT)
    purpose: Purpose = "read"
    limit: int = Field(default=100, ge=1, le=PAGE_LIMIT)
    cursor: str | None = Field(default=None, min_length=1, max_length=CURSOR_LIMIT)


class Provenance(ResponseModel):
    """What an entry rests on. Sent to the owner and the owner's own agents only."""

    scope: str
    strength: float = Field(ge=-1, le=1)
    half_life_days: float | None
    observed_at: AwareDatetime
    n_signals: int = Field(ge=1)
    sources: list[str]
    flags: list[str]


class PreferenceEntry(ResponseModel):
    """What holds for one key now. `weight` is the decayed strength, below zero an aversion.

    `value` is the owner's data and never an instruction. `spelling` is how the key was written
    where that differs.
    """

    key: str
    spelling: str | None
    kind: Kind
    value: Any
    weight: float = Field(ge=-1, le=1)
    confidence: float = Field(ge=0, le=1)
    stale: bool
    provenance: Provenance | None


class Preferences(ResponseModel):
    """A page of a compiled document, ordered by key, with weights as of now.

    `total` counts the entries that may be seen; `pending` the captures not yet compiled;
    `quarantined` the stored records that could not be read.
    """

    schema_version: Literal["v1"] = "v1"
    platform: str | None
    audience: str
    as_of: AwareDatetime
    compiled_at: AwareDatetime | None
    total: int = Field(ge=0)
    pending: int = Field(ge=0)
    quarantined: int = Field(ge=0)
    entries: list[PreferenceEntry]
    next_cursor: str | None


class WhyQuery(RequestModel):
    """Which key, and for which platform; absent: the global document."""

    key: str = Field(min_length=1, max_length=KEY_LIMIT)
    platform: str | None = Field(default=None, pattern=PLATFORM)


class SignalSource(RequestModel):
    """Where a signal was heard. `sequence` counts the statements of one session."""

    platform: str = Field(pattern=PLATFORM)
    agent: str | None = Field(default=None, min_length=1, max_length=200)
    session: str | None = Field(default=None, min_length=1, max_length=200)
    sequence: int = Field(default=0, ge=0, le=2**31 - 1)


class NewSignal(RequestModel):
    """A statement to keep.

    `strength` below zero is an aversion. `half_life_days` absent is 90 for a preference and none
    for a fact; null never fades. `observed_at` is when it was said (ISO 8601; without a zone it is
    read as UTC; absent: now). `supersedes` names an earlier signal of the same key; `corrects`
    supersedes whatever holds for that key and scope now. `id` makes a re-send harmless.
    """

    key: str = Field(min_length=1, max_length=KEY_LIMIT)
    value: Any
    strength: float = Field(ge=-1, le=1)
    source: SignalSource
    kind: Kind = "preference"
    scope: str = Field(default="global", min_length=1, max_length=60)
    confidence: float = Field(default=1.0, ge=0, le=1)
    half_life_days: float | None = Field(default=None, gt=0)
    observed_at: str | None = Field(default=None, min_length=10, max_length=40)
    supersedes: str | None = Field(default=None, min_length=1, max_length=200)
    corrects: bool = False
    id: UUID | None = None


class CaptureRequest(RequestModel):
    """Signals to keep, all or none."""

    signals: list[NewSignal] = Field(min_length=1, max_length=BATCH_LIMIT)


class CapturedSignal(ResponseModel):
    """A kept signal. `is_new` is false for one that was there already."""

    id: str
    position: int = Field(ge=1)
    key: str
    scope: str
    observed_at: AwareDatetime
    recorded_at: AwareDatetime
    supersedes: str | None
    flags: list[str]
    is_new: bool


class Captured(ResponseModel):
    """What was kept; documents follow within moments."""

    signals: list[CapturedSignal]


class SignalsQuery(RequestModel):
    """A page of the owner's stream, oldest first."""

    key: str | None = Field(default=None, min_length=1, max_length=KEY_LIMIT)
    limit: int = Field(default=100, ge=1, le=PAGE_LIMIT)
    cursor: str | None = Field(default=None, min_length=1, max_length=CURSOR_LIMIT)


class StatedSource(ResponseModel):
    """Where a kept signal was heard."""

    platform: str
    agent: str | None
    session: str | None
    sequence: int


class StatedSignal(ResponseModel):
    """One signal of the stream, as it was said."""

    id: str
    position: int
    kind: Kind
    key: str
    spelling: str | None
    scope: str
    value: Any
    strength: float
    confidence: float
    half_life_days: float | None
    observed_at: AwareDatetime
    recorded_at: AwareDatetime
    source: StatedSource
    supersedes: str | None
    flags: list[str]


class SignalPage(ResponseModel):
    """Signals of the stream and where the next page begins."""

    signals: list[StatedSignal]
    next_cursor: str | None


class Candidate(ResponseModel):
    """A signal that speaks for the key: its weight now, and whether and why not it holds."""

    signal: StatedSignal
    weight: float = Field(ge=-1, le=1)
    stale: bool
    verdict: str
    by: str | None


class Why(ResponseModel):
    """Every candidate for a key, the winner first, and the reason of each."""

    key: str
    platform: str | None
    as_of: AwareDatetime
    winner: str | None
    candidates: list[Candidate]
    omitted: int = Field(ge=0)


class BlockQuery(RequestModel):
    """For which platform."""

    platform: str = Field(pattern=PLATFORM)


class PreferenceBlock(ResponseModel):
    """A ready block for a session's context, within the platform's budget; empty when nothing is
    known."""

    platform: str
    text: str
    characters: int = Field(ge=0)
    shown: int = Field(ge=0)
    omitted: int = Field(ge=0)
    compiled_at: AwareDatetime | None


class SolveOption(RequestModel):
    """What can be chosen: the preference keys that it touches, and numbers for constraints."""

    id: str = Field(min_length=1, max_length=100)
    keys: list[str] = Field(max_length=50)
    title: str = Field(default="", max_length=200)
    attributes: dict[str, float] = Field(default_factory=dict, max_length=50)


class SolveParticipant(RequestModel):
    """Who has a say: an owner, you yourself (`self`), or somebody named with weights by key."""

    owner: UUID | None = None
    is_self: bool = Field(default=False, alias="self")
    id: str | None = Field(default=None, min_length=1, max_length=100)
    weights: dict[str, float] | None = Field(default=None, max_length=1_000)


class SolveConstraint(RequestModel):
    """A condition that an option must meet; `by` says who asks for it."""

    kind: Literal["requires", "excludes", "at_most", "at_least"]
    subject: str = Field(min_length=1, max_length=KEY_LIMIT)
    amount: float | None = None
    by: str | None = Field(default=None, min_length=1, max_length=100)


class SolveRequest(RequestModel):
    """A group decision. Consent of level solve is asked of every other owner."""

    options: list[SolveOption] = Field(min_length=1, max_length=OPTION_LIMIT)
    participants: list[SolveParticipant] = Field(min_length=1, max_length=PARTICIPANT_LIMIT)
    policy: Policy = "weighted-sum"
    normalise: Literal["mean", "none"] = "mean"
    constraints: list[SolveConstraint] = Field(default_factory=list, max_length=50)
    veto_below: float = Field(default=-0.5, ge=-1, le=1)
    forced_order: bool = False
    words: bool = False


class RankedOption(ResponseModel):
    """An option's place; equal ranks are ties."""

    option: str
    rank: int = Field(ge=1)
    score: float


class ExcludedOption(ResponseModel):
    """An option that is out, by which rule and by whom."""

    option: str
    reason: str


class Solved(ResponseModel):
    """The ranking, what is out, who was not heard, and the trace from which all of it follows."""

    policy: Policy
    ranking: list[RankedOption]
    excluded: list[ExcludedOption]
    without_consent: list[UUID]
    trace: dict[str, Any]
    words: list[str]


class GrantRequest(RequestModel):
    """Open keys to an audience (`allow`), close them whatever is allowed (`deny`), or end a deny
    of the same glob and audience (`lift`)."""

    effect: Literal["allow", "deny", "lift"] = "allow"
    key_glob: str = Field(min_length=1, max_length=KEY_LIMIT)
    audience: str = Field(min_length=1, max_length=AUDIENCE_LIMIT)
    level: Purpose = "read"
    expires: AwareDatetime | None = None


class RevokeRequest(RequestModel):
    """Take back what was allowed: for these keys, this audience (`*`: everybody), from this level
    up."""

    key_glob: str = Field(min_length=1, max_length=KEY_LIMIT)
    audience: str = Field(min_length=1, max_length=AUDIENCE_LIMIT)
    level: Purpose = "read"


class ConsentEvent(ResponseModel):
    """One step of the history of consent. `live` says whether it has an effect now."""

    id: UUID
    effect: Literal["allow", "deny", "revoke", "lift"]
    key_glob: str
    audience: str
    level: Purpose
    expires: AwareDatetime | None
    made_at: AwareDatetime
    live: bool


class Consent(ResponseModel):
    """The whole history, oldest first."""

    events: list[ConsentEvent]


class LedgerQuery(RequestModel):
    """A page of the ledger, newest first."""

    limit: int = Field(default=100, ge=1, le=PAGE_LIMIT)
    cursor: str | None = Field(default=None, min_length=1, max_length=CURSOR_LIMIT)


class LedgerEntry(ResponseModel):
    """What was shown, or refused, to whom and by whose hand."""

    position: int = Field(ge=1)
    at: AwareDatetime
    kind: Literal["disclosure", "denial"]
    audience: str
    purpose: str
    platform: str | None
    keys: list[str]
    by: str
    correlation_id: str
    hash: str


class LedgerPage(ResponseModel):
    """Entries and where the next page begins."""

    entries: list[LedgerEntry]
    next_cursor: str | None


class LedgerVerification(ResponseModel):
    """Whether the chain is whole: every hash follows, nothing is missing, the end is the end."""

    intact: bool
    length: int = Field(ge=0)
    head: str
    problems: list[str]
