"""Nothing is lost: outbox rows committed with the change, sent after it, consumed once."""
