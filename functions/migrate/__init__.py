"""The only door with DDL: brings the database up to date when a deployment asks for it."""
