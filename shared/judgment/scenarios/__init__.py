"""Rounds: scenarios to decide on, canonical or made for one owner, and the recording of decisions.

A scenario is a trade-off under constraints with at least three options and none of the above. The
same rules hold for those we wrote and those a model made. A decision is recorded in one
transaction with the snapshot before it, the profile after it and the events that tell of it.
"""
