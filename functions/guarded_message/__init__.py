"""The door of `POST /message`: one ASGI app, streamed by our runtime loop or buffered by Mangum."""
