"""The twelve signals: one table, from which the profile, its docs and its explanation are made.

A row says what a signal is computed from, how, how it is shrunk, what an owner must meet for it
to move (its stimulus), and the sentences it may speak. `measure` is the component that picks the
sentence: below `cuts[0]` the first, above `cuts[1]` the last, else the middle one. A sentence is
a template; its placeholders are names of stored numbers. Every component is scaled 0 to 1, because
summaries are renewed when one moves by 0.05 (seed 000 §10.4).

Shrinkage `Beta(1, 1)` means (k + 1) / (n + 2): one imagined case on each side.
Below 4 supporting decisions a signal says only what it still needs (ruling 21).
"""

from __future__ import annotations

from dataclasses import dataclass

from judgment.profile.shapes import RICH_FROM, SPARSE_BELOW

BETA = "Beta(1, 1): (k + 1) / (n + 2)"
DIRICHLET = "Dirichlet(1) over the classes"


@dataclass(frozen=True)
class Component:
    """One number of a signal, 0 to 1, and what its two ends mean."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Signal:
    """One row of the table. `part` is the part of the plan from which `build` computes it."""

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
    part: int

    def sentence(self, measured: float) -> str:
        """The template for that value of `measure`."""
        low, high = self.cuts
        return self.sentences[0 if measured < low else 2 if measured > high else 1]

    def needs(self, supporting: int) -> str:
        """What would move the signal to its next state."""
        if supporting >= RICH_FROM:
            return "nothing more"
        target, state = (
            (SPARSE_BELOW, "developing") if supporting < SPARSE_BELOW else (RICH_FROM, "rich")
        )
        return f"{target - supporting} more {self.unit} to be {state}"


def _leading(subject: str) -> tuple[str, str, str]:
    return (
        f"{subject} with no clear favourite; {{leading}} leads at {{share:.0%}} of {{n}}.",
        f"{subject} most often by {{leading}}: {{share:.0%}} of {{n}}.",
        f"{subject} nearly always by {{leading}}: {{share:.0%}} of {{n}}.",
    )


SIGNALS: tuple[Signal, ...] = (
    Signal(
        name="reasoning_style_distribution",
        description="How the owner argues in their own rationales.",
        inputs="rationale",
        formula="share of rationales whose strongest class of words is each style",
        components=(Component("share", "0 no style leads, 1 one style always"),),
        measure="share",
        cuts=(0.4, 0.75),
        sentences=_leading("Argues"),
        shrinkage=DIRICHLET,
        stimulus="a round answered with a written rationale",
        unit="decisions with a rationale",
        part=2,
    ),
    Signal(
        name="attention_distribution",
        description="Which sides of a trade-off the owner's rationales look at.",
        inputs="rationale, drivers of the options",
        formula="share of rationales that speak of each driver on offer",
        components=(Component("share", "0 attention spread evenly, 1 on one driver"),),
        measure="share",
        cuts=(0.4, 0.75),
        sentences=_leading("Weighs options in words"),
        shrinkage=DIRICHLET,
        stimulus="a round answered with a written rationale",
        unit="decisions with a rationale",
        part=2,
    ),
    Signal(
        name="confidence_calibration",
        description="Whether stated confidence matches how steady the owner's choices are.",
        inputs="confidence, the option taken, the same decision answered again",
        formula=(
            "over decisions with a stated confidence: mean confidence minus the share that holds, "
            "where a decision holds when it was answered the same again, or, not asked again, when "
            "the owner's other decisions point to it; overconfidence = (gap + 1) / 2"
        ),
        components=(
            Component("overconfidence", "0 far too unsure, 0.5 matched, 1 far too sure"),
            Component("held", "share of those decisions that hold"),
        ),
        measure="overconfidence",
        cuts=(0.425, 0.575),
        sentences=(
            "Under-confident: mean confidence {mean_confidence:.0%}, while {held_count} of {n} "
            "such decisions hold.",
            "Confidence fits: mean confidence {mean_confidence:.0%}, and {held_count} of {n} such "
            "decisions hold.",
            "Over-confident: mean confidence {mean_confidence:.0%}, while {held_count} of {n} "
            "such decisions hold.",
        ),
        shrinkage="gap · n / (n + 4)",
        stimulus="a round that asks how sure the owner is",
        unit="decisions with a stated confidence",
        part=1,
    ),
    Signal(
        name="timing_signature",
        description="How long the owner takes, beside the time that reading the options takes.",
        inputs="response_ms, words of title and options",
        formula=(
            "pace = median of response time / reading time at 238 words a minute; "
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
        part=1,
    ),
    Signal(
        name="persuadability",
        description="How often a counter-argument changes the owner's first choice.",
        inputs="first_option_id, the option taken",
        formula="share of rounds with a counter-argument whose final choice is not the first",
        components=(Component("moved", "0 never moved, 1 always moved"),),
        measure="moved",
        cuts=(0.25, 0.6),
        sentences=(
            "Keeps a first choice under counter-argument: changed {changed} of {n}.",
            "Sometimes moved by a counter-argument: changed {changed} of {n}.",
            "Often moved by a counter-argument: changed {changed} of {n}.",
        ),
        shrinkage=BETA,
        stimulus="a round that argues against the first choice",
        unit="rounds with a counter-argument",
        part=2,
    ),
    Signal(
        name="peer_reading",
        description="How well the owner foresees what most others choose.",
        inputs="predicted_peer_option_id, the stated peer majority",
        formula="share of peer predictions that name the majority's option",
        components=(Component("accuracy", "0 never right, 1 always right"),),
        measure="accuracy",
        cuts=(0.4, 0.7),
        sentences=(
            "Seldom foresees others: right in {right} of {n} predictions.",
            "Foresees others about as often as not: right in {right} of {n} predictions.",
            "Reads others well: right in {right} of {n} predictions.",
        ),
        shrinkage=BETA,
        stimulus="a round that asks what most others will choose",
        unit="peer predictions",
        part=2,
    ),
    Signal(
        name="dissent_profile",
        description="How often the owner goes against a majority they can see.",
        inputs="the option taken, the stated peer majority",
        formula="share of rounds with a stated majority in which another option was taken",
        components=(Component("dissented", "0 always with the majority, 1 always against"),),
        measure="dissented",
        cuts=(0.3, 0.6),
        sentences=(
            "Mostly goes with a stated majority: against it in {against} of {n}.",
            "Goes against a stated majority at times: {against} of {n}.",
            "Often goes against a stated majority: {against} of {n}.",
        ),
        shrinkage=BETA,
        stimulus="a round that states what the majority chose",
        unit="rounds with a stated majority",
        part=2,
    ),
    Signal(
        name="authenticity",
        description="Whether the owner's reasons name what their choice in fact serves.",
        inputs="rationale, drivers of the option taken",
        formula="share of rationales that speak of the driver the chosen option offers most",
        components=(Component("matched", "0 reasons and choices apart, 1 always together"),),
        measure="matched",
        cuts=(0.4, 0.7),
        sentences=(
            "Reasons and choices often part: they match in {matches} of {n}.",
            "Reasons match choices in {matches} of {n}.",
            "Says why and means it: reasons match choices in {matches} of {n}.",
        ),
        shrinkage=BETA,
        stimulus="a round answered with a written rationale",
        unit="decisions with a rationale",
        part=2,
    ),
    Signal(
        name="learning_rate",
        description="Whether the owner's choices change after seeing how a choice turned out.",
        inputs="outcome feedback, the next decision of the same kind",
        formula="share of bad outcomes after which the next like decision differs",
        components=(Component("adjusted", "0 never adjusts, 1 always adjusts"),),
        measure="adjusted",
        cuts=(0.3, 0.65),
        sentences=(
            "Seldom changes course after a bad outcome: {changed} of {n}.",
            "Sometimes changes course after a bad outcome: {changed} of {n}.",
            "Changes course after a bad outcome: {changed} of {n}.",
        ),
        shrinkage=BETA,
        stimulus="a round whose outcome is shown later",
        unit="outcomes seen",
        part=2,
    ),
    Signal(
        name="occasion_noise",
        description="How often the same decision comes out differently on another occasion.",
        inputs="decisions marked as a retest, or offering the same options again",
        formula="noise = share of repeated decisions with another answer than the time before",
        components=(Component("noise", "0 always the same answer, 1 always another"),),
        measure="noise",
        cuts=(0.25, 0.5),
        sentences=(
            "Steady: gave the same answer in {same} of {n} repeated decisions.",
            "Fairly steady: gave the same answer in {same} of {n} repeated decisions.",
            "Varies with the occasion: gave the same answer in {same} of {n} repeated decisions.",
        ),
        shrinkage=BETA,
        stimulus="a round presented again, at least 30 days later",
        unit="repeated decisions",
        part=1,
    ),
    Signal(
        name="self_awareness",
        description="How well the owner foresees their own choices.",
        inputs="a self-prediction, the option taken",
        formula="share of self-predictions that name the option later taken",
        components=(Component("accuracy", "0 never right, 1 always right"),),
        measure="accuracy",
        cuts=(0.4, 0.7),
        sentences=(
            "Often surprised by their own choice: foresaw {right} of {n}.",
            "Foresees some of their own choices: {right} of {n}.",
            "Knows how they will choose: foresaw {right} of {n}.",
        ),
        shrinkage=BETA,
        stimulus="a round that first asks what the owner expects to choose",
        unit="self-predictions",
        part=2,
    ),
    Signal(
        name="name_bias_signal",
        description="Whether a character's name alone changes the owner's choice.",
        inputs="matched pairs of scenarios that differ only in a name",
        formula="share of matched pairs answered differently, less the owner's occasion noise",
        components=(Component("bias", "0 names make no difference, 1 they always do"),),
        measure="bias",
        cuts=(0.2, 0.5),
        sentences=(
            "A name makes little difference: {differed} of {n} matched pairs differ.",
            "A name may make a difference: {differed} of {n} matched pairs differ.",
            "A name changes choices: {differed} of {n} matched pairs differ.",
        ),
        shrinkage=BETA,
        stimulus="two rounds, far apart, that differ only in a character's name",
        unit="matched pairs",
        part=2,
    ),
)
