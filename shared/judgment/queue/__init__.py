"""Nothing is lost: outbox rows committed with the change, sent after it, consumed once.

An effect, the record that it happened and the events it causes share one transaction, so that a
process may die anywhere between two steps and a later one finishes or repeats without harm.
"""
