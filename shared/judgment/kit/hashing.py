"""Digests and the one canonical form that they are taken over."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sha256_hex(data: str | bytes) -> str:
    """Lower-case hexadecimal SHA-256 of the bytes, or of the text in UTF-8 (64 characters)."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, raw unicode; equal values give equal text.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot hold.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:
    """SHA-256 (hex) of a value's canonical JSON."""
    return sha256_hex(canonical_json(value))
