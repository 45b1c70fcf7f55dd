"""What agents and monitors fetch without a key: health, the skill, and 404 for the rest."""
