"""Preferences in the owner's own files: a stream that only grows, and what is compiled from it.

One folder holds it all, private to its owner. Whatever changes it holds one lock over processes,
writes whole or not at all, and syncs; whatever reads needs no lock. A store that a dying process
left is readable, and the next write mends it. It is not where another party reads: that goes
through `judgment.preferences.disclosure`, which this store serves as a shelf.
"""
