"""What is logged opens no door."""

from __future__ import annotations

import pytest

from judgment.kit.redaction import redact

KEY = "sync_" + "Ab3_-" * 8 + "xyz"
JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhYmMifQ.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"key {KEY} unknown", KEY),
        (f'{{"authorization": "Bearer {KEY}"}}', KEY),
        (f"Authorization: bearer {JWT}", JWT),
        (f"__Host-session={JWT}; a=b", JWT),
        ("postgresql://judgment_reader:s3cr3t@db.example:5432/judgment", "s3cr3t"),
        ("host=db user=x password=s3cr3t dbname=y", "s3cr3t"),
        ('{"password": "s3cr3t"}', "s3cr3t"),
        ('{"key_secret": "sk-or-v1-0123456789abcdef"}', "0123456789abcdef"),
    ],
)
def test_secrets_are_taken_out(text: str, secret: str):
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    ["sync_score", "no password given", "ask-me-again-some-other-day", "https://host/path?x=1"],
)
def test_ordinary_text_stays(text: str):
    assert redact(text) == text
