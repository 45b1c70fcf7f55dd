"""What an owner wants: typed signals that decay, compiled to one document per platform.

Signals are appended and never changed; documents are what follows from them at a moment, by pure
functions. Nothing of one owner reaches another party except through `consent`, which writes the
ledger first. The solver ranks options for a group and shows every number. It is not where the
judgment profile lives (how an owner decides), and no language model is asked for anything here.

Decay, compilation, solver, consent and rendering stand on the standard library and `judgment.kit`
alone, so that a session start costs no more than starting Python.
"""
