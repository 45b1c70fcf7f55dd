"""Writes an owner's summary and context block anew when their profile has moved."""
