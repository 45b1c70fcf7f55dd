"""Conversations and pages that came with an imported memory, taken into their rows.

A conversation that is known already stays as it is. A file that cannot be read stays a file, and
no reason to refuse the import.
"""
