"""The agent routes as MCP tools, over streamable HTTP, without sessions or streams.

Each tool is one call of the REST API with the caller's own bearer token: this door holds no data,
no database and no second opinion on who may read or capture what. It is not a place for tools
that REST does not offer.
"""
