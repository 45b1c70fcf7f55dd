"""The summary and the context block, renewed when the profile moved, at most once in a window.

A model may word what the observations say; code decides whether it said anything else. Personal
context, preferences and memory never come near (ruling 5).
"""
