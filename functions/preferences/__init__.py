"""What owners want: captured, read, explained and solved with; consent and its ledger."""
