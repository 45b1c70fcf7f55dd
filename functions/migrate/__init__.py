"""The only door with DDL: brings tables and library up to date when a deployment asks for it."""
