"""Admins read and set the kill switch."""
