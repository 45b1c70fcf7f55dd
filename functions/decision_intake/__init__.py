"""Takes note of decisions that a Sync app made and put into the profile itself."""
