"""Owners play: the next round, a round again, and the decision on it."""
