"""Documents made from the code: `docs/contract/` and the tables inside the pages of `docs/`.

What is a table in the code is a table in the docs, written by `./dev docs` and never by hand; a
test fails when a committed page differs from what the code says today.
"""
