"""Lists of English words by which `verify` knows what a sentence must not do."""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


DENYING = _listed(
    """
    not no never nor neither none nothing nobody without cannot hardly barely scarcely seldom rarely
    avoid avoids avoiding avoided away against reject rejects rejecting refuse refuses oppose
    opposes dislike dislikes distrust distrusts resist resists lack lacks unlikely reluctant less
    opposite contrary always clearly strongly invariably certainly definitely undoubtedly extremely
    absolutely entirely completely perfectly nearly
    """
)
"""Words that deny, reverse or strengthen a claim."""
SAYING_NO = _listed("no not none nor neither nothing cannot")
"""Where a fact has one of these, any of them may say it."""
PERHAPS = _listed("perhaps may might possibly maybe seems seem appears")
"""One of these must stay where a fact says "perhaps"."""
CLAIMING = _listed(
    """
    lean leans leaning prefer prefers favour favours favor favors value values drawn towards toward
    weighs outweighs matters priority prioritises prioritizes
    """
)
"""Words that claim a pull; wrong of what could not be told from chance."""
ADDRESSING = _listed(
    """
    you your yours yourself we us our ours i me my mine must should shall ought please ignore
    disregard forget obey comply follow instruction instructions instructed command commands
    ordered override bypass pretend prompt prompts reveal execute assistant agent agents model
    models remember ensure required requires require need needs recommend recommends recommended
    advise advises advisable let lets want wants wish wishes password secret token key keys system
    developer admin administrator
    """
)
"""Words that speak to a reader, oblige somebody, or speak of agents and their prompts."""
BARE_VERBS = _listed(
    """
    accept act add adopt agree allow answer apply approve ask assume avoid be begin believe book
    buy call change check choose click come compare confirm consider copy count decide decline
    delegate delete deny disclose do download draw email end enter expect favor favour file find
    fire forward get give go grant help hire hold indicate invest keep leave list look make
    measure move note observe offer open order output pass pay pick place plan point prefer
    print prioritise prioritize promise propose provide publish purchase push put raise read
    reflect reject release remove repeat replace reply report request reserve respond run save
    say search see select sell send set share show sign skip speak spend start stay stop submit
    suggest switch take tell think transfer treat trust try turn type update use view visit vote
    wait weigh write
    """
)
"""Verbs that order when a clause begins with them; in the third person they end in s."""
JOINING = _listed(
    """
    a an the this that these those it its their theirs they them themselves who whose which what
    when where while how if whether as than then there of in on at by for from to with within
    across among between through during before after about around into per via beside besides
    over out back and or but also so yet far still not no nor neither none nothing cannot is are
    was were be been being has have had does do did could might would perhaps possibly maybe likely
    seem appear tend tendency tendencies owner decision decide choice choose chose chosen option
    driver domain signal pattern pull weight weigh share case time round answer chance evidence
    result record way lean draw drawn favour favor prefer preference value matter outweigh take
    took taken pick select go goes went gone come came show shown suggest indicate point hold
    held give gave given make made move place put count compare expect tell told find found see
    seen say said look base measure observe reflect best same own overall
    """
)
"""Words that say nothing of an owner by themselves, so that a sentence may join a fact's own words
with them. Every other word must stand in a cited fact: lists of what must not be said have no end.
"""
