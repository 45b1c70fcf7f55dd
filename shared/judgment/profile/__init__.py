"""How an owner decides: decisions → profile → what agents read.

`build` turns decisions into the internal profile, `distil` turns that into observations, each a
template and the numbers it is filled with, `composer` turns those into text. All three are pure
and say nothing that the decisions do not show. What this is not: a description of who the owner
is. It holds how they chose, how often, and how sure that makes us.
"""
