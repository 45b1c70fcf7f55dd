"""Language models behind one port: any OpenAI-compatible endpoint, by provider id and role.

An answer has a declared shape, is validated, repaired at most once, and paid for on the record;
whatever goes wrong is a typed failure. Not here: what is asked, and what an answer is good for.
"""
