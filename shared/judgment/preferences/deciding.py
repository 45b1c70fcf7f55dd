"""Group decisions: the opinions of those who consented to it, ranked by the pure solver.

Each owner's row is locked in the order of their ids, so that two groups with the same people in
them never wait for each other. Of every owner no key is asked for but those that the options name,
and each of them has it in their own ledger. An owner who has not consented and somebody nobody
knows are the same here: named, and silent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.contract.preferences import (
    ExcludedOption,
    RankedOption,
    Solved,
    SolveParticipant,
    SolveRequest,
)
from judgment.kit.errors import InvalidRequest, TooLarge
from judgment.preferences import store
from judgment.preferences.asking import audience_of
from judgment.preferences.consent import SELF
from judgment.preferences.reading import opinions_of
from judgment.preferences.solver import Constraint, Opinion, Option, Participant, solve
from judgment.preferences.solver.problem import stated
from judgment.preferences.solver.words import words

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.preferences.asking import Asker

OPINION_LIMIT = 20_000
"""Participants times keys: what an answer of at most a few megabytes can show."""

Shown = Mapping[UUID, Mapping[str, Any]]


class Deciding:
    """Ranks options for owners who agreed to be asked, and for whoever is described."""

    def solve(self, asker: Asker, request: SolveRequest) -> Solved:
        """The ranking and everything it follows from.

        Raises InvalidRequest for options, participants or constraints that the solver does not
        take; TooLarge for more opinions than can be shown; what the asker's transaction raises.
        """
        options = [
            Option(one.id, tuple(one.keys), one.title, one.attributes) for one in request.options
        ]
        rules = _rules(request)
        silent = [_participant(one, asker, {}) for one in request.participants]
        stated(options, silent, **rules)  # refused before anybody is asked
        keys = sorted({key for option in options for key in option.keys})
        if len(silent) * len(keys) > OPINION_LIMIT:
            raise TooLarge(f"Participants times keys: at most {OPINION_LIMIT}.")
        shown = self._shown(asker, _owners(request.participants, asker), keys)
        people = [_participant(one, asker, shown) for one in request.participants]
        solution = solve(options, people, **rules)
        return Solved(
            policy=request.policy,
            ranking=[
                RankedOption(option=one.option, rank=one.rank, score=one.score)
                for one in solution.ranking
            ],
            excluded=[
                ExcludedOption(option=one.option, reason="; ".join(one.reasons))
                for one in solution.excluded
            ],
            without_consent=[whose for whose, found in shown.items() if not found["allowed"]],
            trace=solution.trace,
            words=words(solution.trace) if request.words else [],
        )

    def _shown(self, asker: Asker, owners: Sequence[UUID], keys: Sequence[str]) -> Shown:
        """What each owner lets the asker use, by owner; the transaction ends before it is used.

        Without an owner there is one all the same: an agent is let through by it.
        """

        def use(tx: Transaction) -> Shown:
            return {
                whose: store.disclose_preferences(
                    tx,
                    store.Question(
                        whose,
                        SELF if whose == asker.owner else audience_of(asker.owner),
                        "solve",
                        asker.hand,
                        asker.correlation_id,
                        keys=keys,
                        most=max(1, len(keys)),
                    ),
                )
                for whose in owners
            }

        return asker.within(use)


def _rules(request: SolveRequest) -> dict[str, Any]:
    return {
        "policy": request.policy,
        "normalise": request.normalise,
        "constraints": [
            Constraint(one.kind, one.subject, one.amount, one.by) for one in request.constraints
        ],
        "veto_below": request.veto_below,
        "forced_order": request.forced_order,
    }


def _owners(participants: Sequence[SolveParticipant], asker: Asker) -> list[UUID]:
    """The owners among them, in the order in which they are locked."""
    found = {asker.owner if one.is_self else one.owner for one in participants}
    return sorted(whose for whose in found if whose is not None)


def _name(one: SolveParticipant, asker: Asker) -> str:
    """What a participant is called in the answer. Raises InvalidRequest for one of no kind."""
    given = [one.owner is not None, one.is_self, one.id is not None]
    if sum(given) != 1 or (one.id is None) != (one.weights is None):
        raise InvalidRequest(
            'participants: each is {"self": true}, {"owner"}, or {"id", "weights"}'
        )
    if one.id is not None:
        return one.id
    return str(asker.owner if one.is_self else one.owner)


def _participant(one: SolveParticipant, asker: Asker, shown: Shown) -> Participant:
    """A participant with the opinions that may be used; an owner not in `shown` is silent."""
    name = _name(one, asker)
    if one.weights is not None:
        return Participant(name, {key: Opinion(weight) for key, weight in one.weights.items()})
    found = shown.get(UUID(name))
    entries = opinions_of(found) if found is not None and found["allowed"] else ()
    return Participant(
        name, {one.key: Opinion(one.weight, one.confidence, one.stale) for one in entries}
    )
