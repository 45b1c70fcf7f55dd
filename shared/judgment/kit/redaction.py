"""Text that is about to be logged, with everything taken out that would open a door."""

from __future__ import annotations

import re

_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"sync_[A-Za-z0-9_-]{20,}"), "sync_[redacted]"),
    (re.compile(r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,2}"), "[redacted token]"),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"), "sk-[redacted]"),
    (re.compile(r"(?i)\b(bearer)\s+[^\s\"'\\,}]+"), r"\1 [redacted]"),
    (re.compile(r"(?i)(\bpassword\b[\"']?\s*[=:]\s*[\"']?)[^\s\"'\\&,}]+"), r"\1[redacted]"),
    (re.compile(r"(\w://[^:/@\s\"']+:)[^@/\s\"']+(@)"), r"\1[redacted]\2"),
)


def redact(text: str) -> str:
    """`text` without agent and model keys, JWTs, bearers, and passwords in assignments and URLs.

    A last net under code that logs no secret on purpose; it does not make logging one acceptable.
    """
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
