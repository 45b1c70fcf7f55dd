"""Owners shut their agents out, take everything along, and erase it."""
