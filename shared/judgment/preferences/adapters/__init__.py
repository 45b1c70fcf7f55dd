"""How preferences get in front of each host's model, and what an owner said there gets back.

Hooks at the start and end of a session for hosts that run commands, a managed block in a file for
those that only read, a written recipe for the rest. Nothing here waits on a network: a hook reads
local files. Files of a host belong to its owner; only entries and blocks of ours are touched.
"""
