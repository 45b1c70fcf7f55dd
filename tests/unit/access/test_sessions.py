"""A session cookie is believed from our own page only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgment.access.sessions import (
    COOKIE,
    BrowserRequest,
    csrf_token,
    is_our_page,
    session_of,
)

ORIGIN = "https://console.example"
SECRET = b"s" * 32
SESSION = "eyJ.session.jwt"
GOOD = BrowserRequest("POST", ORIGIN, "same-origin", csrf_token(SECRET, SESSION))

pytestmark = pytest.mark.promise("R-17", "P1-refuse-session")


def believed(request: BrowserRequest) -> bool:
    return is_our_page(request, SESSION, SECRET, ORIGIN)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_change_needs_our_origin_and_the_sessions_token(method: str):
    good = replace(GOOD, method=method)
    assert believed(good)
    for wrong in (
        replace(good, origin=None),
        replace(good, origin="https://evil.example"),
        replace(good, origin="null"),
        replace(good, origin=ORIGIN + "/"),
        replace(good, csrf_token=None),
        replace(good, csrf_token=""),
        replace(good, csrf_token="é"),
        replace(good, csrf_token="\ud800"),
        replace(good, csrf_token=csrf_token(SECRET, "another session")),
        replace(good, csrf_token=csrf_token(b"another secret", SESSION)),
        replace(good, csrf_token=csrf_token(SECRET, SESSION).upper()),
    ):
        assert not believed(wrong)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("site", "ok"),
    [
        (None, True),
        ("same-origin", True),
        ("same-site", True),
        ("none", True),
        ("cross-site", False),
    ],
)
def test_a_read_must_not_be_cross_site(method: str, site: str | None, ok: bool):
    assert believed(BrowserRequest(method, None, site, None)) is ok


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "get", ""])
def test_no_other_method_is_believed(method: str):
    assert not believed(replace(GOOD, method=method))


@pytest.mark.parametrize(
    ("headers", "session"),
    [
        ([f"{COOKIE}=abc"], "abc"),
        ([f"a=1; {COOKIE}=abc==; b=2"], "abc=="),
        (["a=1", f"{COOKIE}=abc"], "abc"),
        ([f"{COOKIE}=abc; {COOKIE}=def"], None),
        ([f"{COOKIE}=abc", f"{COOKIE}=abc"], None),
        ([f"{COOKIE}="], None),
        ([f"x{COOKIE}=abc"], None),
        ([f"{COOKIE.lower()}=abc"], None),
        ([""], None),
        ([], None),
    ],
)
def test_the_session_is_read_only_where_it_is_unmistakable(headers: list[str], session: str | None):
    assert session_of(headers) == session
