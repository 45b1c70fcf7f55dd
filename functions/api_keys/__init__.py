"""Owners mint, list and revoke the keys of their agents."""
