"""Owners ask for a round about their own life."""
