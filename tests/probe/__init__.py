"""Doors that exist for tests alone: they show what the stack does with every kind of door.

`--with tests.probe.catalogue` joins them to the product's catalogue, locally and in CDK.
"""
