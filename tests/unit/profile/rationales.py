"""Rationales labelled by hand before any word list was written: text, style, drivers spoken of.

A label is what a reader would say: the style that carries the argument (None: no argument, several
of equal weight, or only somebody else's), and the drivers whose subject the writer weighs, on
either side of them; a driver that is waved away is not weighed. Even rows may be used to tune the
lists; odd rows are the check and nothing else.
"""

from __future__ import annotations

from judgment.profile.drivers import SCENARIO_DRIVERS

Labelled = tuple[str, str | None, str]

LABELLED: tuple[Labelled, ...] = (
    ("A promise is a promise, and I gave mine.", "principled", "loyalty"),
    ("It would be wrong to treat them differently.", "principled", "fairness"),
    ("If we wait another month the market will be gone.", "consequence", "speed"),
    ("This leads to higher costs down the road.", "consequence", "thrift long_term"),
    ("She has two children and would not get over losing this job.", "people", "care"),
    ("I thought of the families who depend on us.", "people", "care"),
    ("The figures from the last three quarters point the same way.", "evidence", ""),
    ("Two surveys and the pilot say customers want it.", "evidence", ""),
    ("We have always settled such cases like this.", "precedent", "stability"),
    ("That is how my predecessor handled it, and it worked.", "precedent", "stability"),
    ("I just had a feeling about him.", "intuition", ""),
    ("My gut says no.", "intuition", ""),
    ("Everyone should know what is decided about them.", "principled", "transparency"),
    ("Nobody may be shut out because of where they come from.", "principled", "fairness"),
    ("In ten years nobody will thank us for a quick fix.", "consequence", "long_term speed"),
    ("The result would be a strike, and then we lose everything.", "consequence", "harmony"),
    ("He is exhausted and needs a rest more than we need the hours.", "people", "care"),
    ("The older workers would feel betrayed.", "people", "loyalty"),
    ("There is no proof that the new pump fails less often.", "evidence", ""),
    ("The data does not support expansion yet.", "evidence", "growth"),
    ("Last time we opened the gate it took a year to recover.", "precedent", ""),
    ("Tradition matters here.", "precedent", "stability"),
    ("Something felt off about the second offer.", "intuition", ""),
    ("Hard to explain, it simply seemed the better one.", "intuition", ""),
    ("Let the teams decide for themselves.", None, "autonomy"),
    ("Whoever does the work should choose how.", "principled", "autonomy"),
    ("Rewarding results brings better results.", "consequence", "merit"),
    ("She earned it with the best numbers of all.", None, "merit"),
    ("Not fair to those who queued since morning.", "principled", "fairness"),
    ("It isn't right to hide the accident from the crew.", "principled", "transparency"),
    ("We can save the money for winter.", None, "thrift"),
    ("Cheaper, and good enough.", None, "thrift"),
    ("I don't care about fairness here, we need to move fast.", None, "speed"),
    ("Speed does not matter to me in this case.", None, ""),
    ("Never mind the budget: these people are ill.", "people", "care"),
    ("Regardless of the cost, the truth has to come out.", "principled", "transparency"),
    ("No principle is at stake, it only has to work.", "consequence", ""),
    ("I have no evidence, only a hunch.", "intuition", ""),
    ('My brother said "always follow the rules", but he is not here.', None, ""),
    ('The sign reads "fairness first".', None, ""),
    ("ok", None, ""),
    ("Because.", None, ""),
    ("I liked the second one best.", None, ""),
    ("none of these convinced me", None, ""),
    ("Growing into the next valley gives us room for mistakes.", "consequence", "growth"),
    ("Bigger is not better. We should stay small.", None, "growth"),
    ("Changing the system now would unsettle everyone.", "consequence", "stability"),
    ("Why fix what is not broken?", None, "stability"),
    ("I could not face my team after that.", "people", "loyalty"),
    ("We stick together, whatever comes.", "principled", "loyalty"),
    ("An open quarrel would split the village.", "consequence", "harmony"),
    ("I want peace at the table.", None, "harmony"),
    ("Act today, talk tomorrow.", None, "speed"),
    ("There is no rush. Waiting costs us nothing.", "consequence", "speed"),
    ("Future generations have a claim on this forest.", "principled", "long_term"),
    ("Short term gain, long term pain.", "consequence", "long_term"),
    ("Rules are rules, even for the director's son.", "principled", "fairness"),
    ("By law both sides must be heard.", "principled", "fairness"),
    ("Honesty costs us now but keeps their trust.", "consequence", "transparency"),
    ("Keep it confidential until the audit is over.", None, "transparency"),
    ("The expert report and the measurements agree.", "evidence", ""),
    ("According to the survey most tenants prefer repair.", "evidence", ""),
    ("Statistically the first crop fails every fourth year.", "evidence", ""),
    ("I checked the numbers twice.", "evidence", ""),
    ("It went badly in the flood year, so I would not try it again.", "precedent", ""),
    ("As in the case of the old mill, the elders should rule.", "precedent", ""),
    ("It is our custom that the eldest speaks first.", "precedent", ""),
    ("The usual way has served us well.", "precedent", "stability"),
    ("I imagined how she would feel reading that letter.", "people", "care"),
    ("Hurting them is not an option for me.", "people", "care"),
    ("His dignity counts for more than the schedule.", None, "care speed"),
    ("Their safety comes first.", "people", "care"),
    ("I trust my instinct on people like him.", "intuition", ""),
    ("Call it a sixth sense.", "intuition", ""),
    ("My heart was with the younger team.", "intuition", ""),
    ("First impression was good and I went with it.", "intuition", ""),
    ("The same share for everybody, no exceptions.", "principled", "fairness"),
    ("Equal pay for equal work.", "principled", "fairness"),
    ("They have been with us for thirty years; we owe them.", "principled", "loyalty"),
    ("Old friends or not, the contract goes to the best bid.", None, "loyalty merit"),
    ("Adults can make their own choices.", "principled", "autonomy"),
    ("Someone has to be in charge or nothing gets done.", "consequence", "autonomy"),
    ("Too risky: one bad harvest and we starve.", "consequence", ""),
    ("This option has the smallest downside.", "consequence", ""),
    ("The best candidate on performance should win, not the one with seniority.", None, "merit"),
    ("Bonuses for talent only breed envy.", "consequence", "merit harmony"),
    ("We cannot afford it.", None, "thrift"),
    ("Money is there to be spent.", None, "thrift"),
    ("A frugal start leaves us reserves for later.", "consequence", "thrift"),
    ("An investment like this pays back within three years.", "consequence", "long_term"),
    ("I am tired and took the first one.", None, ""),
    ("Flipped a coin, honestly.", None, ""),
    ("Das ist nur gerecht gegenüber allen.", None, ""),
    ("Parce que c'est plus juste pour tout le monde.", None, ""),
    ("公平が一番大切だと思います。", None, ""),
    ("Por el bien de la familia.", None, ""),
    (
        "It is cruel to send them out in winter, and it breaks our word; I thought mostly of the "
        "children's faces.",
        "people",
        "care loyalty",
    ),
    (
        "Both are defensible. In the end the outcome counts: with the second plan fewer people go "
        "hungry and the debts are paid by spring.",
        "consequence",
        "thrift",
    ),
    (
        "I went back through what the committee did in earlier disputes and followed that line; "
        "we can publish it, too.",
        "precedent",
        "transparency",
    ),
    (
        "The trial showed a drop of forty percent, and the sample was large enough. I do not need "
        "to like the people behind it.",
        "evidence",
        "",
    ),
    (
        "Every citizen has the right to see the books. That holds even when it is awkward for us.",
        "principled",
        "transparency",
    ),
    (
        "No secrets among partners. I would rather lose the deal than lie about the leak.",
        "principled",
        "transparency",
    ),
    (
        "If it fails, the damage stays small; if it works, we double our trade.",
        "consequence",
        "growth",
    ),
    ("We would gain time but lose the harbour.", "consequence", "speed"),
    ("A slow, steady build-up beats a gamble.", None, "speed stability"),
    ("Better late than sloppy.", None, "speed"),
    ("The refugees need shelter tonight.", "people", "care speed"),
    ("The patients would suffer most from a delay.", "people", "care speed"),
    ("New blood would do this council good.", None, "stability"),
    ("Reform is overdue.", None, "stability"),
)
"""Text, style or None, drivers of `SCENARIO_DRIVERS` parted by spaces."""

TUNE, CHECK = LABELLED[::2], LABELLED[1::2]

assert {d for _, _, ds in LABELLED for d in ds.split()} == set(SCENARIO_DRIVERS)
