"""`judgment chat`: a terminal that talks to `POST /message` and its neighbours over HTTPS.

It takes nothing on trust: every event is held to the contract's shape and to its place in the
order, and no text of a model or a file can steer the terminal. It keeps nothing on disk.
"""
