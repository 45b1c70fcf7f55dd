"""The doors: one folder per Lambda, `handler.py` or `app.py` to answer and `wiring.py` to connect.

Doors are strangers to each other; what two of them share lives in `judgment.entry`.
"""
