"""The named context store as a remote: signals as its own `Event` records, documents as its files.

Everything goes through the package `fulcra-api`, pinned, behind one small typed port. What was
written here rests on the package's source and on a reference; it was tried against a server of
our own and never against the live service (`docs/fulcra.md` says what that leaves open).
"""
