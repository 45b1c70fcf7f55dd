"""The three stacks (ruling 26): Data keeps, Service runs, Edge faces the world.

Service holds only resource types that the emulator deploys, so that CI deploys it as it is.
"""
