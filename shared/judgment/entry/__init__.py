"""How doors open: HTTP, ASGI, queue and schedule entries, refusals rendered, observability."""
