"""Benchmarks: each figure is a ratio or a difference taken in one run, in interleaved rounds.

Machines differ and are shared, so nothing here asserts a time. `python -m tests.bench` measures
the budgets of the architecture and what an agent would use instead, and writes the tables of
docs/benchmarks.md between its markers. A budget that is missed is printed with a profile.
"""
