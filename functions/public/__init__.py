"""What agents and monitors fetch without a key: health, the skills, and 404 for the rest."""
