"""The canonical scenarios: one JSON file for each theme, an entry for each scenario.

Every entry keeps the rules that a generated scenario keeps, and its links hold: a matched pair
differs in a name and nothing else, and a sequel follows a scenario whose outcomes it can tell. An
entry's key is for ever; an edit that changes what is to be decided gets a key of its own.
"""
