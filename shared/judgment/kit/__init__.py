"""What every idea may use and none owns: clock, ids, hashing, settings, refusals, kill points.

It also takes secrets out of text that is about to be logged. It knows no domain and imports the
standard library only, so that a command that must start in milliseconds can afford it.
"""
