"""What an agent reads: the judgment profile, recent decisions, and why the scores are so."""
