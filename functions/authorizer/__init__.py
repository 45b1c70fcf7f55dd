"""The REQUEST authorizer: agent key, owner JWT or console session → principal, else 401."""
