"""Personal context, and the rounds that a model makes from it for its one owner (seed 000 §§7, 8).

The owner's text is data wherever it goes: it is stored as it was written, travels to a model as one
JSON string, and decides nothing but surface. Structure is code: which domain, which options count,
none of the above, the rules. Whatever a model answers, an owner gets a round that keeps the rules.
"""
