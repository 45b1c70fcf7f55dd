"""The only opener of Postgres connections: transactions under an owner's claim, named queries,
migrations, roles, and the inventory of owner data.
"""
