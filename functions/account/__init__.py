"""Owners shut their agents out, choose their models, take everything along, and erase it."""
