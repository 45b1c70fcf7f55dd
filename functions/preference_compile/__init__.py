"""Compiles what owners want into documents, after a capture."""
