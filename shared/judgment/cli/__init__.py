"""The console script `judgment`."""
