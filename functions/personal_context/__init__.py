"""Owners write what rounds about their own life are made from."""
