"""Whatever is wrong with the issuer's documents is an outage, never a crash and never a belief."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judgment.access.issuer import DOCUMENT_LIMIT, fetch_json
from judgment.kit.errors import Unavailable
from tests.fakes.listening import Listening, QuietHandler


class Site(Listening):
    """A site on this machine that gives one scripted answer and counts who asks."""

    def __init__(self) -> None:
        self.status = 200
        self.body = b"{}"
        self.headers: dict[str, str] = {}
        self.asked: list[str] = []
        site = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                self.give(site.status, site.body, site.headers)

        super().__init__(Handler)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def test_an_object_is_returned(site: Site):
    site.body = b'{"keys": []}'
    assert fetch_json(f"{site.url}/keys") == {"keys": []}


@pytest.mark.promise("P1-refuse-session", "R-17")
@pytest.mark.parametrize("status", [204, 301, 302, 404, 500, 503])
def test_any_other_status_is_an_outage_and_redirects_are_not_followed(site: Site, status: int):
    site.status, site.headers = status, {"Location": f"{site.url}/elsewhere"}
    site.body = b"" if status == 204 else b"{}"
    with pytest.raises(Unavailable):
        fetch_json(f"{site.url}/keys")
    assert site.asked == ["/keys"]


@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b'"text"', b"null", b"\xff\xfe", b"[" * 200_000],
    ids=lambda body: body[:9].decode("latin-1"),
)
def test_what_is_no_object_is_an_outage(site: Site, body: bytes):
    site.body = body
    with pytest.raises(Unavailable):
        fetch_json(site.url)


def test_a_document_without_end_is_an_outage(site: Site):
    site.body = b'{"a": "' + b"x" * (DOCUMENT_LIMIT + 1) + b'"}'
    with pytest.raises(Unavailable):
        fetch_json(site.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "file:///etc/passwd", "ftp://x/", "::", ""])
def test_an_address_that_is_none_or_answers_nothing_is_an_outage(url: str):
    with pytest.raises(Unavailable):
        fetch_json(url)
