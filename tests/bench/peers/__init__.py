"""What an agent would pick instead, each in an environment of its own, run by one runner.

A peer installs itself from a hashed list into `.local/peers`, is given a document of the size of
the profile that is read, and offers one call that reads it back. One that cannot be installed or
run is reported with its error and never fails the run.
"""
