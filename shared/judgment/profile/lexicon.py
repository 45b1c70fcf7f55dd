"""The words that `language` listens for: cues of six styles of reasoning and of each driver.

Entries are parted by commas, words by spaces, all in base form: a plural, "-ed" or "-ing" is found
too. An entry of one word weighs 1, a phrase 2, because a phrase is seldom there by chance. An
entry that ends in "!" counts under a "not" as well ("not fair" is an argument from fairness, "not
our duty" is none from duty). The longest entry wins, so that an entry under `NOTHING` keeps the
words of an idiom from being heard one by one.

Styles, after published distinctions: acting from principle, from expected ends and from custom are
three of Weber's four kinds of social action (Economy and Society, 1922); regard for the people in
front of one against rules for all is Gilligan's (In a Different Voice, 1982); reasoning from
evidence against going by feeling is Epstein's (1994). The word lists are ours.
"""

from __future__ import annotations

STYLE_CUES = {
    "principled": """
        principle, on principle, matter of principle, right to!, the right thing!, rights!,
        wrong!, morally, moral, immoral!, ethical, unethical!, ethics, duty, obligation, obliged,
        obligated, bound to, justice!, injustice!, just cause, fair!, unfair!, fairly!, fairness!,
        unfairness!, equal!, equally!, unequal!, equality!, inequality!, deserve!, entitled, rule,
        by law, law, lawful, illegal!, legitimate, promise, our word, my word, your word, their
        word, keep faith, honest, honesty, dishonest!, lie!, lie to, integrity, conscience, value,
        owe, owe it, should never, must never, never acceptable, not acceptable, unacceptable!, no
        exception, without exception, same for all, same for everyone, same for everybody,
        everyone should, everybody should, nobody should, no one should, nobody may, no one may,
        everyone has, everybody has, claim on, whatever comes, it is right!, is not right!, not
        right to, would be right!, be binding!, shameful!, honour, honor, cheat!, betray our,
        treat everyone, treat people, treat them the same, differently!, should choose, should
        decide, own choice, own choices, freedom of, liberty, sovereign right
    """,
    "consequence": """
        consequence, result would, the result, result in, outcome, lead to, leads to, cause, so
        that, in the end, would end, end up, if it fails, if it works, if we wait, if we lose,
        otherwise, or else, benefit, advantage, disadvantage, upside, downside, payoff, pay off,
        pay back, pays back, impact, effect, effective, risk, risky, gain, loss, lose, cost us,
        costs us, worth it, better off, worse         off, trade-off, damage, harm, harmful, in
        the long run, long term, short term, later on, down the road, down the line, too
        expensive, afford, profit, save us, would mean, will         mean, will make, would make,
        will hurt, would hurt, will cost, would cost, would split, would unsettle, will bring,
        brings, bring better, give us, gives us, leave us, leaves us, let us, buy us, buys us,
        prevent, avoid, backfire, work out, has to work, have to work, more likely, less likely,
        likely to, useful, success, fail, failure, double our, starve, destroy, collapse,
        efficient, pragmatic, practical, solve, hungry, debt, breed, costs now, gone, ruin, boost,
        prosperity, going to cost, going to lose, going to have to, is going to, are going to,
        will increase, will reduce, will raise, will cause, will end, will lose, will help, will
        destroy, would lose, would gain, would cause, would increase, would reduce, would provide,
        would help, pointless, no point, in ten years
    """,
    "people": """
        these people, those people, the people, family, child, children, kid, mother, father,
        parent, elderly, the sick, patient, worker feel, feel betrayed, would feel, she feel, they
        feel, he feel, her feelings, their feelings, suffer, suffering, pain, hurt!, hurting!,
        cruel!, kind, kindness, compassion, empathy, mercy, sympathy, pity, dignity, well-being,
        wellbeing, welfare, safety, their lives, his life, her life, need help, needs help, need a
        rest, needs a rest, need rest, needs rest, need shelter, exhausted, ill, sick, vulnerable,
        the weak, the poor, lonely, afraid, scared, grief, grieve, face my!, face him!, face her!,
        face them!, their faces, her shoes, their shoes, his shoes, think of her, think of him,
        think of them, thought of her, thought of him, thought of them, depend on us, rely on us,
        relationship, friendship, human, humane, inhuman!, humanity, victim, get over, look after,
        take care of, care for, protect them, comfort, listen to, concern of, refugee, lose his
        job, lose her job, lose their jobs, lose their job, losing this job, losing his job,
        losing her job, losing their jobs, their jobs, his job, her job, heartless!
    """,
    "evidence": """
        evidence, no evidence that!, no evidence for!, no proof!, proof, prove, proven, unproven!,
        data, figure, number, statistic, statistics, statistical, statistically, survey, study,
        studies, research, report, measure, measurement, analysis, analyse, analyze, fact, the
        facts, trial, pilot, experiment, sample, test show, tests show, show that, shows that,
        showed that, shown that, trial showed, trial show, calculate, calculated, calculation,
        percent, per cent, according to, checked, double checked, verify, verified, audit show,
        expert, forecast, estimate, probability, odds, track record, the math, the maths, metrics,
        metric, record show, records show, documented, indicate, suggest that, source
    """,
    "precedent": """
        precedent, last time, last year, the time before, as before, like before, in the past,
        tradition, traditional, traditionally, custom, customary, always have, have always, has
        always, had always, we always, always done, always did, always been, used to, usual, the
        usual way, usually, as usual, habit, predecessor, ancestor, forefather, our elders, the
        elders, history, historically, earlier case, earlier cases, earlier dispute, similar case,
        similar cases, such cases, in the case of, previous, previously, did before, done before,
        tried before, tried it before, tried this before, seen this before, happened before,
        worked before, it worked, went badly, went well, served us well, experience, has worked,
        have worked, handled it, years ago, established, convention, same as, not try it again!,
        try it again
    """,
    "intuition": """
        gut, gut feeling, my gut, hunch, instinct, instinctive, instinctively, intuition,
        intuitive, intuitively, a feeling, had a feeling, have a feeling, feel right!, felt
        right!, feels right!, feel wrong!, felt wrong!, feels wrong!, felt off, feel off, feels
        off, something felt, something told, something tells, sixth sense, my heart, heart says,
        heart said, with my heart, vibe, first impression, hard to explain, can not explain, can
        not say why, could not say why, do not know why, simply seemed, just seemed, just felt,
        just feel, simply felt, just knew, just know, somehow, sense that, could tell, sensed
    """,
}
"""Cues of each style."""

DRIVER_CUES = {
    "fairness": """
        fair, fairly, fairness, unfair, unfairly, unfairness, equal, equally, unequal, equality,
        inequality, even-handed, impartial, justice, unjust, injustice, favouritism, favoritism,
        favour some, bias, biased, discriminate, discrimination, same for all, same for everyone,
        same for everybody, same share, same rule, same rules, rules are rules, treat them the
        same, treat everyone, treat them differently, treated differently, treat differently,
        double standard, privilege, both sides, no exception, without exception, queue, shut out,
        exclude, where they come from, level playing field
    """,
    "loyalty": """
        loyal, loyalty, disloyal, stand by, stood by, stick together, stick with, stuck with,
        stick by, keep faith, faithful, betray, betrayed, betrayal, abandon, desert, let them
        down, let him down, let her down, let my team down, turn my back, turn our back, turn our
        backs, old friend, old friends, friendship, our own people, my people, one of us, one of
        ours, promise, keep my word, keep our word, our word, my word, break our word, been with
        us, with us for, with me for, we owe them, owe him, owe her, owe them, allegiance,
        comrade, face my team, longtime, ally, allies
    """,
    "autonomy": """
        autonomy, autonomous, freedom, free to, liberty, independence, independent,
        self-determination, decide for themselves, decide for himself, decide for herself, decide
        for ourselves, choose for themselves, choose for himself, choose for herself, own choice,
        own choices, own decision, own decisions, own way, choose how, decide how, let them
        decide, let people decide, let them choose, let people choose, up to them, up to him, up
        to her, control, controlled, micromanage, in charge, order from above, orders from above,
        top-down, central, centrally, centralise, centralize, interfere, interference, forced on,
        self-rule, say over, delegate, paternalistic, consent, tell them what, told what
    """,
    "transparency": """
        transparent, transparency, openness, openly, in the open, out in the open, come out, came
        out, honest, honesty, hide, hid, hidden, conceal, concealed, secret, secrecy, secretly,
        confidential, confidentiality, disclose, disclosure, publish, published, make public, made
        public, go public, tell the truth, the truth, lie, lied, lying, lie to, mislead, deceive,
        cover up, cover-up, discretion, discreet, discreetly, keep quiet, kept quiet, behind
        closed doors, leak, see the books, open the books, open books, should know, right to know,
        deserve to know, inform, informed, in the dark, candid, candour, candor
    """,
    "stability": """
        stability, stable, unstable, steady, keep things, as they are, as it is, as things are,
        status quo, what works, not broken, is not broke, do not fix, continuity, change,
        changing, changed, unsettle, upheaval, disrupt, disruption, disruptive, reform, overhaul,
        new blood, fresh start, shake up, shake things up, tradition, traditional, preserve,
        conserve, maintain, order, proven way, usual way, the usual, always done, have always, has
        always, always been, innovate, innovation, transform, transformation, renewal, renew,
        modernise, modernize, revolution, familiar, handled it, served us well, rock the boat
    """,
    "growth": """
        grow, growth, growing, grew, expand, expansion, bigger, larger, scale up, scaling, new
        market, new markets, more market share, market share, enlarge, double our, ambition,
        ambitious, small, smaller, stay small, restraint, shrink, downsize, conquer, new
        territory, extend, build up more, increase our, increase sales, raise output, more
        customers, opportunity
    """,
    "speed": """
        speed, fast, faster, fastest, quick, quickly, quicker, rapid, rapidly, swift, swiftly,
        hurry, rush, urgent, urgency, urgently, immediate, immediately, at once, right away, right
        now, act now, act today, now or never, tonight, no time, lose time, losing time, gain
        time, time is, out of time, in time, delay, delayed, wait, waiting, slow, slowly, slower,
        patience, postpone, hesitate, hesitation, deadline, schedule, soon, sooner, before it is
        too late, too late, better late, window, overnight, haste, hasty, prompt, promptly,
        another month, another year, another week, talk tomorrow
    """,
    "long_term": """
        long term, long run, short term, short run, long-lasting, lasting, future, generation, in
        ten years, in twenty years, in five years, in a few years, within three years, years from
        now, decades, decade, down the road, down the line, tomorrow's, sustainable,
        sustainability, grandchild, grandchildren, legacy, posterity, quick fix, quick win, quick
        wins, eventually, far-sighted, short-sighted, shortsighted, look ahead, think ahead, plan
        ahead, thinking ahead, invest, investment
    """,
    "harmony": """
        harmony, harmonious, peace, peaceful, peacefully, quarrel, conflict, fight, fighting,
        argue, dispute, strife, split the, divide the, divide us, unity, united, cohesion, get
        along, got along, tension, resentment, envy, jealousy, bad blood, strike, hostility, feud,
        row, compromise, consensus, calm, reconcile, reconciliation, confront, confrontation, good
        terms, atmosphere, morale, rift, keep the peace, uproar, riot
    """,
    "merit": """
        merit, merits, earned, earn it, earned it, performance, perform, talent, talented, best
        candidate, most qualified, best qualified, qualified, qualification, achievement, achieve,
        accomplish, skill, skilled, competence, competent, ability, deserve it, deserves it,
        deserved it, deserve the, deserves the, reward, rewarded, rewarding, bonus, bonuses, best
        bid, best numbers, best results, promotion, promote, seniority, effort, hard work, worked
        hard, best person, best one for the job, excellence, excel, top performer
    """,
    "care": """
        well-being, wellbeing, welfare, compassion, mercy, kindness, cruel, cruelty, suffer,
        suffering, hurt, hurting, dignity, vulnerable, sick, ill, exhausted, burnout, burned out,
        health, safe, safety, take care of, care for, look after, need help, needs help, need a
        rest, needs a rest, need rest, need shelter, needs shelter, refugee, patient, child,
        children, kid, family, families, wound, wounded, injured, injury, lives, grief, grieve,
        how she would feel, how he would feel, how they would feel, humane, inhumane, tough on,
        hard on, harsh, harshly, the weak, the poor, elderly, lose their job, lose their jobs,
        losing this job, lose his job, lose her job, support them, hungry, hunger
    """,
    "thrift": """
        thrift, thrifty, frugal, frugality, save, saving, savings, save money, money, cost,
        costly, cheap, cheaper, cheapest, expensive, afford, budget, spend, spending, spent,
        waste, wasteful, economical, expense, debt, reserve, price, pay for, lavish, generous,
        generosity, splurge, means, tighten our belts, fund, funds
    """,
    "price": """
        price, cheap, cheaper, cheapest, expensive, cost, costly, pay less, pay more, bill, rate
        per, per kilowatt hour, save money, money, afford, tariff
    """,
    "commitment": """
        commitment, commit, committed, contract length, long contract, longer contract, short
        contract, shorter contract, tied down, tied in, locked in, lock in, lock myself in,
        binding, flexible, flexibility, cancel, switch away, leave any time, one year, two years,
        three years, five years
    """,
    "local_supplier": """
        local, locally, local supplier, local company, regional, region, from here, nearby, our
        town, around here, neighbourhood, neighborhood
    """,
    "known_supplier": """
        well known, well-known, known supplier, known name, big name, brand, reputation,
        reputable, never heard of, heard of them, unknown supplier, unknown company, established
        company, trusted name, know the company, know the supplier
    """,
    "predictability": """
        predictable, predictability, fixed rate, fixed price, fixed, flat rate, vary, varies,
        varying, variable, variable rate, time of day, seasonal, same every month, same rate,
        surprise, surprises, know what i pay, know what i will pay, fluctuate, fluctuation, steady
        bill, steady rate
    """,
}
"""Cues of each driver, on either side of it."""

NOTHING = """
    fair enough, all right, right now, right away, of course, care about, care whether, do not
    care, rather, in fact, in order to, in order, kind of, save for, save us from, be just, just
    because, a number of, go figure, point of view, used to be, last but, in case, bound to
    happen, means that, by no means, it means, that means, this means, in a sense, the other day,
    time off, well spent time, make up for, fair share of trouble, open question, long time, long
    ago, even if, what if, as if, only if, if only, if possible, matter of fact, as a matter of
    fact, a family of, old people
"""
"""Idioms whose words mean something else."""

NEGATORS = "not, no, never, without, neither, nor, hardly, nothing, none, rarely, barely"
"""A style cue after one of these, within three words of the same clause, is not counted."""

WAVED_AWAY_BEFORE = """
    never mind, regardless of, irrespective of, no matter, whatever the, forget, forget about, not
    about, do not care, not care about, do not mind, nothing to do with, leave aside, leaving
    aside, not interested in
"""
WAVED_AWAY_AFTER = """
    not matter, not count, is irrelevant, are irrelevant, irrelevant, not the point, not the
    issue, not important, unimportant, be secondary, is secondary, aside, not decisive, can wait,
    or not
"""
"""What a writer waves away is not what they weigh: three words after or before one of these."""

OURS = """
    the, a, an, i, is, are, was, were, be, to, of, and, we, it, that, this, they, he, she, not,
    for, with, my, our, you, on, in, but, if, so, no, their, them, have, has, had, will, would,
    can, do
"""
THEIRS = """
    der, die, das, und, ist, nicht, ein, eine, ich, wir, es, sie, zu, den, dem, für, auf, mit,
    nur, aber, weil, le, la, les, et, est, que, qui, une, des, pas, pour, dans, nous, je, il,
    elle, ce, c, plus, tout, el, los, las, y, un, una, por, para, con, lo, pero, porque, como,
    más, muy, het, een, niet, ik, wij, en, van, dat, voor, maar, omdat, zijn, di, che, non, sono,
    gli, della, perché, è, não, com, uma, mais, eu, os, nie, jest, się, nas, och, att, det, är,
    inte, för, ikke, og, er
"""
"""Common words of English and of other languages in Latin letters: which of the two prevails."""
