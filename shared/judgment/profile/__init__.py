"""How an owner decides: decisions → profile → what agents read. Pure but for its store."""
