"""Who may do what: agent keys, owner tokens, console sessions, scopes, switches, limits, accounts.

It says who is asking and whether they may, never what they get. A revoked key or a thrown switch
shows on the next request; wrong credentials all look alike.
"""
