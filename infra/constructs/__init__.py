"""The pieces our stacks are made of: a door, the REST front, queues, alarms, the network.

Each takes catalogue rows and makes resources; none knows a door by name.
"""
