"""One more decision taken into what a profile is carried forward from.

A decision made for the first time speaks of preference, manner and the signals whose stimulus its
round had. One made again (a retest) speaks of occasion noise, and says of the decision it repeats
whether that holds; of nothing else. Decisions must come oldest first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from judgment.kit.hashing import canonical_json, digest
from judgment.profile.accumulation import WINDOW, Case, CategoryPart, Marks, OwnerPart, State
from judgment.profile.decision import DRIVERS_LIMIT, Decision, Option
from judgment.profile.language import drivers_in, style_of

if TYPE_CHECKING:
    from uuid import UUID

READING_WORDS_A_MINUTE = 238
READING_MS_A_WORD = 60_000 / READING_WORDS_A_MINUTE
PERSONAL_THEME = "personal"
DRIVERS_ATTENDED = 32
TITLES_LIMIT = 16
_NUMBERING = re.compile(r"[\s#(,:-]*\d+(\s*(of|/)\s*\d+)?\)?$")


class _Made(NamedTuple):
    """What is remembered of every decision.

    What it offered, in which domain, which first decision it goes back to, the approach taken, and
    whether the story lets it turn out well (None where it does not say, and for a retest).
    """

    offer: str
    category: str
    root: str
    approach: str | None
    good: bool | None


def advance(state: State, decision: Decision, marks: Marks) -> None:
    """Take one decision into `state`, in which its domain's part must be at hand, and `marks`.

    It must be later than all before. The profile follows by `build.profile_of`.
    """
    again = decision.retest_of is not None
    before = _made(marks, decision.retest_of)
    made = _Made(
        offer=before.offer if before else offer_key(decision),
        category=before.category if before else decision.category,
        root=before.root if before else decision.id.hex,
        approach=decision.chosen.approach if decision.chosen else None,
        good=None if again else _turned_out(decision),
    )
    same = _answered_the_same(decision, made, marks)
    state.owner.decisions += 1
    state.owner.last = decision.id.hex
    if same is not None:
        state.owner.count("occasion_noise", same=same)
    if not again:
        _take_in_signals(state.owner, decision, marks)
        if decision.domain is not None:
            _take_in_category(state.category(decision.domain), decision)
    elif same is not None and before is not None:
        _take_in_retest(state, decision, before, held=same)
    marks.set(made_key(decision.id), canonical_json(made))


def mark_keys(decision: Decision) -> list[str]:
    """The marks that taking this decision in will most likely look up."""
    keys = [offer_key(decision)]
    keys += [made_key(i) for i in (decision.retest_of, decision.outcome_of) if i is not None]
    if decision.stimuli.pair is not None:
        keys.append(pair_key(decision.stimuli.pair))
    return keys


def made_key(identity: UUID) -> str:
    """The key of what is remembered of one decision."""
    return f"made:{identity.hex}"


def pair_key(pair: str) -> str:
    """The key of the first answer to a matched pair."""
    return f"pair:{digest(pair)}"


def offer_key(decision: Decision) -> str:
    """The key of the last answer to what was decided between.

    Category and options, whatever their order and ids: the same offer made again is a repeat. A
    matched pair's twins and a sequel may offer the very same without repeating anything, so there
    the scenario counts as well.
    """
    offered: list[str] = sorted(digest(_content(option)) for option in decision.options)
    stimuli = decision.stimuli
    if stimuli.pair is not None or stimuli.sequel_of is not None:
        offered.insert(0, decision.scenario_id.hex)
    return f"offer:{digest([decision.category, *offered])}"


def pace(decision: Decision) -> float | None:
    """Response time over the time that reading title and options takes, or None when untimed.

    Reading takes 238 words a minute: Brysbaert (2019), the mean of 190 studies of English prose.
    """
    if not decision.response_ms:
        return None
    texts = [decision.scenario_title]
    texts += [f"{option.label} {option.description}" for option in decision.options]
    words = sum(len(text.split()) for text in texts)
    return decision.response_ms / (max(words, 1) * READING_MS_A_WORD)


def _content(option: Option) -> Mapping[str, Any]:
    return {key: value for key, value in option.to_json().items() if key != "id"}


def _made(marks: Marks, identity: UUID | None) -> _Made | None:
    kept = None if identity is None else marks.get(made_key(identity))
    return None if kept is None else _Made(*json.loads(kept))


def _turned_out(decision: Decision) -> bool | None:
    outcome = decision.stimuli.outcomes.get(decision.chosen_option_id)
    return None if outcome is None else outcome.good


def _answered_the_same(decision: Decision, made: _Made, marks: Marks) -> bool | None:
    """Whether this came out as the time before, by what the option offers; None the first time."""
    chosen = decision.chosen
    answer = digest(_content(chosen)) if chosen else decision.chosen_option_id
    last = marks.get(made.offer)
    if last != answer:
        marks.set(made.offer, answer)
    return None if last is None else last == answer


def _take_in_signals(owner: OwnerPart, decision: Decision, marks: Marks) -> None:
    _take_in_time(owner, decision)
    _take_in_others(owner, decision)
    _take_in_sequel(owner, decision, _made(marks, decision.outcome_of))
    _take_in_pair(owner, decision, marks)
    if decision.rationale:
        _take_in_words(owner, decision, decision.rationale)


def _take_in_time(owner: OwnerPart, decision: Decision) -> None:
    took = pace(decision)
    if took is not None and decision.response_ms:
        owner.count("timing_signature")
        owner.latest_times.append((decision.response_ms, took))
        del owner.latest_times[:-WINDOW]


def _take_in_others(owner: OwnerPart, decision: Decision) -> None:
    """What the owner did under an argument, beside a majority, and against their own forecast."""
    stimuli, option = decision.stimuli, _unargued(decision)
    taken = option.id if option else decision.chosen_option_id
    if decision.first_option_id in stimuli.counter_arguments:
        owner.count("persuadability", changed=decision.chosen_option_id != taken)
    majority = stimuli.majority_option_id
    if majority is not None:
        owner.count("dissent_profile", against=taken != majority)
        if decision.predicted_peer_option_id is not None:
            owner.count("peer_reading", right=decision.predicted_peer_option_id == majority)
    if decision.self_predicted_option_id is not None:
        owner.count("self_awareness", right=taken == decision.self_predicted_option_id)


def _unargued(decision: Decision) -> Option | None:
    """What was taken before any counter-argument, which speaks of persuadability alone."""
    return next((o for o in decision.options if o.id == decision.first_option_id), decision.chosen)


def _take_in_sequel(owner: OwnerPart, decision: Decision, earlier: _Made | None) -> None:
    """Whether an approach was kept; whoever took none of the above had none to keep."""
    chosen = _unargued(decision)
    if decision.stimuli.sequel_of is None or earlier is None or chosen is None:
        return
    if earlier.good is None or earlier.approach is None:
        return
    changed = chosen.approach != earlier.approach
    if earlier.good:
        owner.count("good_outcomes", changed=changed)
    else:
        owner.count("learning_rate", changed=changed)


def _take_in_pair(owner: OwnerPart, decision: Decision, marks: Marks) -> None:
    """The first of a pair is remembered, the second is compared; any later one is neither."""
    if decision.stimuli.pair is None:
        return
    key, here = pair_key(decision.stimuli.pair), decision.scenario_id.hex
    kept = marks.get(key)
    if kept is None:
        marks.set(key, canonical_json([here, decision.chosen_option_id]))
        return
    scenario, *answer = json.loads(kept)
    if answer and scenario != here:
        owner.count("name_bias_signal", differed=answer != [decision.chosen_option_id])
        marks.set(key, canonical_json([here]))


def _take_in_words(owner: OwnerPart, decision: Decision, rationale: str) -> None:
    style = style_of(rationale)
    if style is not None:
        owner.styles[style] = owner.styles.get(style, 0) + 1
    columns = _columns(decision)
    named = drivers_in(rationale, columns)
    if not named:
        return
    _take_in_attention(owner, sorted(columns), named)
    chosen = decision.chosen
    few = len(named) == 1 or 2 * len(named) <= len(columns)  # who names all is always right
    if few and chosen is not None and chosen.drivers:
        served = {n for n, column in columns.items() if chosen.drivers.get(n, 0.0) == max(column)}
        owner.count("authenticity", matches=bool(served & named))


def _columns(decision: Decision) -> dict[str, list[float]]:
    """The drivers on which the options differ, and what each option that has any offers of them."""
    offered = [option for option in decision.options if option.drivers]
    names = sorted({name for option in offered for name in option.drivers})
    columns = {name: [float(o.drivers.get(name, 0.0)) for o in offered] for name in names}
    return {name: column for name, column in columns.items() if min(column) < max(column)}


def _take_in_attention(owner: OwnerPart, offered: list[str], named: frozenset[str]) -> None:
    attended = owner.attention
    for name in offered:
        if name in attended or len(attended) < DRIVERS_ATTENDED:
            attended.setdefault(name, 0.0)
    known = sorted(named & attended.keys())
    if known:
        owner.count("attention_distribution")
        for name in known:
            attended[name] += 1 / len(known)


def _take_in_category(part: CategoryPart, decision: Decision) -> None:
    part.decisions += 1
    _take_in_title(part, decision)
    known = [o.risk for o in decision.options if o.risk is not None]
    chosen = decision.chosen
    if chosen is not None and chosen.risk is not None and min(known) < max(known):
        part.placed += 1
        part.places += (chosen.risk - min(known)) / (max(known) - min(known))
    took = pace(decision)
    part.timed += took is not None
    part.cases.append(_case(decision, took))
    del part.cases[:-WINDOW]


def _take_in_title(part: CategoryPart, decision: Decision) -> None:
    """Count its title, numbering taken off, where it is among the first sixteen of the domain.

    A personal scenario's title comes from the owner's personal context and is never kept: texts
    made from the profile must not carry it (ruling 5).
    """
    title = _NUMBERING.sub("", decision.scenario_title).strip()
    if not title or decision.theme == PERSONAL_THEME:
        return
    if title in part.titles or len(part.titles) < TITLES_LIMIT:
        part.titles[title] = part.titles.get(title, 0) + 1


def _case(decision: Decision, took: float | None) -> Case:
    """The drivers on which the options differ, at most 16, and what each option offers of them."""
    offered = [o for o in decision.options if o.drivers]
    columns = _columns(decision)
    names = list(columns)[:DRIVERS_LIMIT]
    taken = [i for i, o in enumerate(offered) if o.id == decision.chosen_option_id]
    usable = len(taken) == 1 and len(offered) > 1
    rows = [[columns[name][i] for name in names] for i in range(len(offered))]
    return Case(
        id=decision.id.hex,
        confidence=decision.confidence,
        held=None,
        pace=took,
        names=names,
        rows=rows if usable else [],
        taken=taken[0] if usable else None,
    )


def _take_in_retest(state: State, decision: Decision, before: _Made, *, held: bool) -> None:
    """Note whether the decision asked again holds, if it is among the latest of the same domain.

    A retest in another domain than its decision says nothing: only one domain is at hand.
    """
    part = state.categories.get(decision.category)
    if part is None or before.category != decision.category:
        return
    cases = part.cases
    for place, case in enumerate(cases):
        if case.id == before.root:
            cases[place] = case._replace(held=held)
            return
