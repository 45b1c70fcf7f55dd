"""Judgment: the layer that lets any AI agent act with its owner's judgment.

Ideas live in the packages below and import downwards only; doors live in `functions/`.
"""

VERSION = "0.1.0"
