"""How doors open: HTTP, ASGI, queue and schedule entries, refusals rendered, observability.

It turns what AWS sends into calls that know no event and no context, and whatever ends such a
call into the contract's answer, a log line and a metric. It knows no domain.
"""
