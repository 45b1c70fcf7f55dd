"""The console script `judgment`: what a person or an agent asks from a terminal, over HTTPS.

Its entry imports the standard library and `judgment.kit` only, so that commands which run on
every prompt stay fast; each command imports what it needs.
"""
