"""Who may do what: agent keys, owner tokens, scopes, kill switch, rate limits, erasure."""
