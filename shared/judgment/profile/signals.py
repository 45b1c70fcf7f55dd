"""The twelve signals: one table, from which the profile, its docs and its explanation are made.

A row says what a signal is computed from, how, how it is shrunk, what an owner must meet for it
to move (its stimulus), where the idea comes from, and the sentences it may speak. `measure` is the
component that picks the sentence: below `cuts[0]` the first, above `cuts[1]` the last, else the
middle one. Where a share is measured, a first or last sentence begins with "Perhaps" until the
share stands 1.96 standard deviations from `doubt`, the share that means nothing: one case in two,
or what picking at random gives. A sentence is a template; its placeholders are names of stored
numbers, and `n`, the supporting decisions, is among them always. Every component is scaled 0 to 1,
because summaries are renewed when one moves by 0.05 (seed 000 §10.4).

A retest counts for occasion noise and settles whether a confident decision holds; for every other
signal it is not a decision of its own. `Beta(1, 1)` is Laplace's rule of succession: one imagined
case on each side; `Dirichlet(1)` is the same over more classes than two. Below 4 supporting
decisions a signal says only what it still needs (ruling 21).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from judgment.profile.shapes import CLEAR_Z, RICH_FROM, SPARSE_BELOW

BETA = "Beta(1, 1): (k + 1) / (n + 2)"
DIRICHLET = "Dirichlet(1): (k + 1) / (n + number of classes)"
EVEN = (0.5, 0.5)
MOST_OPTIONS = (0.5, 0.75)
"""Who picks one of four at random takes another than a given one in three cases of four."""


@dataclass(frozen=True)
class Component:
    """One number of a signal, 0 to 1, what its two ends mean, and its value without evidence."""

    name: str
    meaning: str
    neutral: float = 0.5


@dataclass(frozen=True)
class Signal:
    """One row of the table. `source` is the paper the idea is from, and what of it is ours."""

    name: str
    description: str
    inputs: str
    formula: str
    components: tuple[Component, ...]
    measure: str
    cuts: tuple[float, float]
    sentences: tuple[str, str, str]
    shrinkage: str
    stimulus: str
    unit: str
    source: str
    doubt: tuple[float, float] | None = None

    @property
    def neutral(self) -> float:
        """What `measure` is without evidence."""
        return next(c.neutral for c in self.components if c.name == self.measure)

    def place(self, measured: float) -> int:
        """0 below the cuts, 1 between them, 2 above."""
        low, high = self.cuts
        return 0 if measured < low else 2 if measured > high else 1

    def sentence(self, measured: float, n: int) -> str:
        """The template for that value of `measure`, over `n` supporting decisions."""
        place = self.place(measured)
        template = self.sentences[place]
        if self.doubt is None or place == 1:
            return template
        nothing = self.doubt[place // 2]
        spread = math.sqrt(nothing * (1 - nothing) / (n + 2))
        sure = abs(measured - nothing) >= CLEAR_Z * spread
        return template if sure else f"Perhaps {template[0].lower()}{template[1:]}"

    def needs(self, supporting: int) -> str:
        """What would move the signal to its next state."""
        if supporting >= RICH_FROM:
            return "nothing more"
        target, state = (
            (SPARSE_BELOW, "developing") if supporting < SPARSE_BELOW else (RICH_FROM, "rich")
        )
        missing = target - supporting
        return f"{missing} more {in_number(missing, self.unit)} to be {state}"


def in_number(count: int, unit: str) -> str:
    """A unit of this table, or of the scores', as it follows that count in a sentence."""
    if count != 1:
        return unit
    one = re.sub(r"(rationale|decision|round|prediction|outcome|pair)s\b", r"\1", unit, count=1)
    return re.sub(r"\bthat (show|name)\b", r"that \1s", one)


SIGNALS: tuple[Signal, ...] = (
    Signal(
        name="reasoning_style_distribution",
        description="How the owner argues in their own rationales.",
        inputs="rationale",
        formula=(
            "each rationale has the style that most of its cue words belong to; one without a cue "
            "or with a tie is not counted; n = those counted, k = those of a style; share = k / n, "
            "the largest of six"
        ),
        components=(Component("share", "0 no style leads, 1 one style always", 0.0),),
        measure="share",
        cuts=(0.4, 0.75),
        sentences=(
            "Argues in several ways, most often from {leading}: {leading_count} of {n} rationales "
            "that show a style.",
            "Argues most often from {leading}: {leading_count} of {n} rationales that show a "
            "style.",
            "Argues nearly always from {leading}: {leading_count} of {n} rationales that show a "
            "style.",
        ),
        shrinkage=DIRICHLET,
        stimulus="a round answered with a written rationale",
        unit="rationales that show a style",
        source=(
            "styles after Weber's kinds of social action (1922), Gilligan (1982) and Epstein "
            "(1994); word lists ours"
        ),
    ),
    Signal(
        name="attention_distribution",
        description="Which sides of a trade-off the owner's rationales look at.",
        inputs="rationale, drivers of the options",
        formula=(
            "n = rationales that speak of a driver on which the options differ; one that speaks of "
            "several gives each an equal part; k = a driver's sum of parts; share = k / n, the "
            "largest over the drivers that were on offer in those rounds"
        ),
        components=(Component("share", "0 attention spread evenly, 1 on one driver", 0.0),),
        measure="share",
        cuts=(0.4, 0.75),
        sentences=(
            "Looks at many sides in words, most often at {leading}: {leading_part:.0%} of what {n} "
            "rationales speak of.",
            "Looks most often at {leading}: {leading_part:.0%} of what {n} rationales speak of.",
            "Looks nearly always at {leading}: {leading_part:.0%} of what {n} rationales speak of.",
        ),
        shrinkage=DIRICHLET,
        stimulus="a round answered with a written rationale",
        unit="rationales that name a driver on offer",
        source="attributes attended to as Payne, Bettman and Johnson (1993); read off words: ours",
    ),
    Signal(
        name="confidence_calibration",
        description="Whether stated confidence matches how steady the owner's choices are.",
        inputs="confidence, the option taken, the same decision answered again",
        formula=(
            "over the latest 240 decisions of each domain with a stated confidence: mean "
            "confidence minus the share that holds, where a decision holds when its last retest "
            "came out the same, or, not asked again, when the owner's other decisions point to it; "
            "overconfidence = (gap + 1) / 2"
        ),
        components=(Component("overconfidence", "0 far too unsure, 0.5 matched, 1 far too sure"),),
        measure="overconfidence",
        cuts=(0.4, 0.6),
        sentences=(
            "Less sure than their choices bear out: mean confidence {mean_confidence:.0%}, while "
            "{held_count} of {n} such decisions hold.",
            "As sure as their choices bear out: mean confidence {mean_confidence:.0%}, and "
            "{held_count} of {n} such decisions hold.",
            "Surer than their choices bear out: mean confidence {mean_confidence:.0%}, while "
            "{held_count} of {n} such decisions hold.",
        ),
        shrinkage="gap · n / (n + 4)",
        stimulus="a round that asks how sure the owner is",
        unit="decisions with a stated confidence",
        source="Lichtenstein and Fischhoff (1977); what holds, not what is right: ours",
    ),
    Signal(
        name="timing_signature",
        description="How long the owner takes, beside the time that reading the options takes.",
        inputs="response_ms, words of title and options",
        formula=(
            "pace = median of response time / reading time at 238 words a minute, over the latest "
            "240 timed decisions; "
            "deliberation = pace / (pace + 2)"
        ),
        components=(Component("deliberation", "0 faster than reading, 0.5 twice reading, to 1"),),
        measure="deliberation",
        cuts=(1 / 3, 2 / 3),
        sentences=(
            "Decides fast: a median {seconds:.0f} s, {pace:.1f} times what reading the options "
            "takes, over {n} timed decisions.",
            "Takes a usual time: a median {seconds:.0f} s, {pace:.1f} times what reading the "
            "options takes, over {n} timed decisions.",
            "Takes time: a median {seconds:.0f} s, {pace:.1f} times what reading the options "
            "takes, over {n} timed decisions.",
        ),
        shrinkage="(deliberation · n + 0.5 · 4) / (n + 4)",
        stimulus="a round answered in the open, timed by the page",
        unit="timed decisions",
        source="reading rate of Brysbaert (2019); pace and deliberation ours",
    ),
    Signal(
        name="persuadability",
        description="How often a counter-argument changes the owner's first choice.",
        inputs="first_option_id, the option taken",
        formula=(
            "n = rounds whose first choice met a counter-argument; k = those whose final choice "
            "is another; moved = k / n"
        ),
        components=(Component("moved", "0 never moved, 1 always moved"),),
        measure="moved",
        cuts=(0.25, 0.6),
        doubt=EVEN,
        sentences=(
            "Keeps a first choice under counter-argument: changed {changed} of {n} first choices.",
            "Sometimes leaves a first choice under counter-argument: changed {changed} of {n} "
            "first choices.",
            "Often leaves a first choice under counter-argument: changed {changed} of {n} first "
            "choices.",
        ),
        shrinkage=BETA,
        stimulus="a round that argues against the first choice",
        unit="rounds with a counter-argument",
        source="first choice, advice, final choice as Sniezek and Buckley (1995); share ours",
    ),
    Signal(
        name="peer_reading",
        description="How well the owner foresees what most others choose.",
        inputs="predicted_peer_option_id, the stated peer majority",
        formula="n = peer predictions; k = those that name the majority's option; accuracy = k / n",
        components=(Component("accuracy", "0 never right, 1 always right"),),
        measure="accuracy",
        cuts=(0.4, 0.7),
        doubt=EVEN,
        sentences=(
            "Seldom foresees others: right in {right} of {n} predictions.",
            "Foresees others about as often as not: right in {right} of {n} predictions.",
            "Reads others well: right in {right} of {n} predictions.",
        ),
        shrinkage=BETA,
        stimulus="a round that asks what most others will choose",
        unit="peer predictions",
        source="predicting others beside oneself as Prelec (2004); share ours",
    ),
    Signal(
        name="dissent_profile",
        description="How often the owner goes against a majority they can see.",
        inputs="the option taken, the stated peer majority",
        formula=(
            "n = rounds with a stated majority; k = those in which another option, or none, was "
            "taken, before any counter-argument; dissented = k / n"
        ),
        components=(Component("dissented", "0 always with the majority, 1 always against"),),
        measure="dissented",
        cuts=(0.3, 0.8),
        doubt=MOST_OPTIONS,
        sentences=(
            "Mostly goes with a stated majority: against it in {against} of {n} rounds.",
            "Goes now with a stated majority, now against it: against it in {against} of {n} "
            "rounds.",
            "Often goes against a stated majority: in {against} of {n} rounds.",
        ),
        shrinkage=BETA,
        stimulus="a round that states what the majority chose",
        unit="rounds with a stated majority",
        source="a majority in view as Asch (1956); share ours",
    ),
    Signal(
        name="authenticity",
        description="Whether the owner's reasons name what their choice in fact serves.",
        inputs="rationale, drivers of the options, the option taken",
        formula=(
            "n = rationales that speak of one driver on which the options differ, or of half of "
            "them at most; k = those that speak of one of which the option taken offers most of "
            "all; matched = k / n"
        ),
        components=(Component("matched", "0 reasons and choices apart, 1 always together"),),
        measure="matched",
        cuts=(0.4, 0.7),
        doubt=EVEN,
        sentences=(
            "Reasons and choices often part: the option taken serves a reason given in {matches} "
            "of {n} rationales.",
            "Reasons and choices meet at times: the option taken serves a reason given in "
            "{matches} of {n} rationales.",
            "Reasons and choices mostly meet: the option taken serves a reason given in {matches} "
            "of {n} rationales.",
        ),
        shrinkage=BETA,
        stimulus="a round answered with a written rationale",
        unit="rationales that name a driver on offer",
        source="reasons against choices as Nisbett and Wilson (1977); measure ours",
    ),
    Signal(
        name="learning_rate",
        description="Whether the owner's choices change after seeing how a choice turned out.",
        inputs="the earlier decision's outcome, the approach of the option taken then and now",
        formula=(
            "n = sequels that showed a bad outcome of an approach taken earlier; k = those in "
            "which an option of another approach, or of none, was taken, before any "
            "counter-argument; adjusted = k / n"
        ),
        components=(Component("adjusted", "0 never adjusts, 1 always adjusts"),),
        measure="adjusted",
        cuts=(0.3, 0.8),
        doubt=MOST_OPTIONS,
        sentences=(
            "Keeps an approach after a bad outcome: took another one after {changed} of {n} seen.",
            "Now keeps and now leaves an approach after a bad outcome: took another one after "
            "{changed} of {n} seen.",
            "Leaves an approach after a bad outcome: took another one after {changed} of {n} seen.",
        ),
        shrinkage=BETA,
        stimulus="a round whose outcome is shown later",
        unit="bad outcomes seen",
        source="lose-shift, as Worthy, Hawthorne and Otto (2013); share ours",
    ),
    Signal(
        name="occasion_noise",
        description="How often the same decision comes out differently on another occasion.",
        inputs="decisions marked as a retest, or offering the same options again",
        formula=(
            "n = decisions made before; k = those with another answer than the time before; "
            "noise = k / n"
        ),
        components=(Component("noise", "0 always the same answer, 1 always another"),),
        measure="noise",
        cuts=(0.25, 0.5),
        doubt=EVEN,
        sentences=(
            "Steady: gave the same answer in {same} of {n} repeated decisions.",
            "Fairly steady: gave the same answer in {same} of {n} repeated decisions.",
            "Varies with the occasion: gave the same answer in {same} of {n} repeated decisions.",
        ),
        shrinkage=BETA,
        stimulus="a round presented again, at least 30 days later",
        unit="repeated decisions",
        source="occasion noise of Kahneman, Sibony and Sunstein (2021); share ours",
    ),
    Signal(
        name="self_awareness",
        description="How well the owner foresees their own choices.",
        inputs="a self-prediction, the option taken",
        formula=(
            "n = self-predictions; k = those that name the option taken, before any "
            "counter-argument; accuracy = k / n"
        ),
        components=(Component("accuracy", "0 never right, 1 always right"),),
        measure="accuracy",
        cuts=(0.4, 0.7),
        doubt=EVEN,
        sentences=(
            "Often surprised by their own choice: foresaw {right} of {n} predicted.",
            "Foresees some of their own choices: {right} of {n} predicted.",
            "Knows how they will choose: foresaw {right} of {n} predicted.",
        ),
        shrinkage=BETA,
        stimulus="a round that first asks what the owner expects to choose",
        unit="self-predictions",
        source="self-prediction as Epley and Dunning (2000); share ours",
    ),
    Signal(
        name="name_bias_signal",
        description="Whether a character's name alone changes the owner's choice.",
        inputs="matched pairs of scenarios that differ only in a name; occasion noise",
        formula=(
            "n = matched pairs with both sides answered; k = those answered differently; bias = "
            "k / n less the owner's occasion noise, never below 0; expected = noise · n"
        ),
        components=(Component("bias", "0 no more than occasion noise, 1 names decide", 0.0),),
        measure="bias",
        cuts=(0.2, 0.5),
        sentences=(
            "A name makes no difference that could be told: {differed} of {n} matched pairs "
            "differ, {expected:.1f} by occasion noise alone.",
            "A name may make a difference: {differed} of {n} matched pairs differ, "
            "{expected:.1f} by occasion noise alone.",
            "A name changes choices: {differed} of {n} matched pairs differ, {expected:.1f} by "
            "occasion noise alone.",
        ),
        shrinkage=f"both shares {BETA}",
        stimulus="two rounds, far apart, that differ only in a character's name",
        unit="matched pairs",
        source="matched pairs as Bertrand and Mullainathan (2004); noise taken off: ours",
    ),
)
