"""The next round for an owner: the open one again, or what `choosing` picks from what is stored."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.errors import NotFound, Unavailable
from judgment.scenarios import choosing, store
from judgment.scenarios.serving import Serving

if TYPE_CHECKING:
    from judgment.contract.rounds import CanonicalTheme
    from judgment.db.connection import Transaction
    from judgment.kit.ids import IdFactory
    from judgment.scenarios.model import Scenario

KEPT_CANDIDATES = 1_000
_Version = tuple[UUID, str]


class Offering:
    """Finds an owner's next round inside the caller's transaction, under the owner's lock.

    What choosing needs to know of a library scenario is kept by its digest, so that a changed one
    is read anew and an unchanged one never.
    """

    def __init__(self, settings: choosing.Settings, ids: IdFactory):
        self._settings = settings
        self._ids = ids
        self._kept: OrderedDict[_Version, choosing.Candidate | None] = OrderedDict()

    def next(
        self, tx: Transaction, owner: UUID, theme: CanonicalTheme | None, now: datetime
    ) -> tuple[Serving, Scenario]:
        """What is shown now, and is stored as shown: an open round again, or a new one.

        Raises NotFound when nothing is left, Unavailable when the library changed just now.
        """
        for serving in store.open_canonical_servings(tx, owner, theme):
            scenario = store.playable(tx, owner, serving.scenario_id)
            if scenario is not None:
                store.serve_again(tx, serving, now)
                return serving, scenario
        history = store.history(tx, owner)
        candidates = self._candidates(tx)
        choice = choosing.choose(history, candidates, theme=theme, now=now, settings=self._settings)
        if choice is None:
            raise NotFound(nothing_left(history, candidates, theme, now, self._settings))
        scenario = store.playable(tx, owner, choice.scenario_id)
        if scenario is None:
            raise Unavailable  # archived since it was listed; the next call finds another
        serving = Serving(self._ids(), choice.scenario_id, choice.retest_of, choice.outcome_of)
        store.add_serving(tx, owner, serving, now)
        return serving, scenario

    def _candidates(self, tx: Transaction) -> list[choosing.Candidate]:
        versions = store.canonical_versions(tx)
        unread = [
            scenario_id for scenario_id, digest in versions if not self._has(scenario_id, digest)
        ]
        read = {s.id: choosing.candidate(s) for s in store.canonical(tx, unread)} if unread else {}
        found = [self._keep(version, read) for version in versions]
        return [candidate for candidate in found if candidate is not None]

    def _has(self, scenario_id: UUID, digest: str | None) -> bool:
        return digest is not None and (scenario_id, digest) in self._kept

    def _keep(
        self, version: tuple[UUID, str | None], read: dict[UUID, choosing.Candidate]
    ) -> choosing.Candidate | None:
        scenario_id, digest = version
        if digest is None:
            return read.get(scenario_id)
        if not self._has(scenario_id, digest):
            self._kept[scenario_id, digest] = read.get(scenario_id)
            if len(self._kept) > KEPT_CANDIDATES:
                self._kept.popitem(last=False)
        return self._kept[scenario_id, digest]


def nothing_left(
    history: choosing.History,
    candidates: Sequence[choosing.Candidate],
    theme: CanonicalTheme | None,
    now: datetime,
    settings: choosing.Settings,
) -> str:
    """Why there is no next round, and what there will be: other themes, or a retest and its day."""
    fitting = {c.id for c in candidates if theme is None or c.theme == theme}
    if not fitting:
        return "There are no rounds here yet."
    said = (
        "You have played every round there is."
        if theme is None
        else ("You have played every round of this theme.")
    )

    def has_one(theme: CanonicalTheme | None, at: datetime) -> bool:
        return (
            choosing.choose(history, candidates, theme=theme, now=at, settings=settings) is not None
        )

    if theme is not None and has_one(None, now):
        return f"{said} Other themes have rounds left."
    wait = timedelta(days=settings.retest_after_days)
    days = sorted(a.last_at + wait for a in history.answered.values() if a.scenario_id in fitting)
    due = next((day for day in days if day > now and has_one(theme, day)), None)
    return said if due is None else f"{said} The first one is asked again from {due:%Y-%m-%d} on."
