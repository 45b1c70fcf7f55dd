"""A queries.sql either is in its form or is refused by name."""

from __future__ import annotations

import pytest

from judgment.db.queries import Queries, QueryFileError, load_queries

pytestmark = pytest.mark.promise("P1-3")

GOOD = """-- name: first_one
-- The first of the two.
SELECT 1
  FROM here;

-- name: second
-- Has a comment of its own.
-- because of a trap
DELETE FROM there WHERE id = %(id)s
"""


def test_queries_are_found_by_name_without_their_head_and_semicolon() -> None:
    queries = Queries(GOOD, "x.sql")
    assert queries["first_one"] == "SELECT 1\n  FROM here"
    assert queries["second"].endswith("DELETE FROM there WHERE id = %(id)s")
    assert list(queries) == ["first_one", "second"]
    assert queries.purposes["first_one"] == "The first of the two."


def test_an_unknown_name_is_reported_with_its_file() -> None:
    with pytest.raises(KeyError, match=r"x\.sql has no query named third"):
        Queries(GOOD, "x.sql")["third"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1;\n" + GOOD, "text before the first query"),
        ("SELECT 1", "text before the first query"),
        ("-- name: a\nSELECT 1", "does not say what it is for"),
        ("-- name: a\n--  \nSELECT 1", "does not say what it is for"),
        ("-- name: a\n-- For nothing.\n", "is empty"),
        (GOOD + GOOD, "first_one is there twice"),
    ],
)
def test_a_file_out_of_form_is_refused(text: str, reason: str) -> None:
    with pytest.raises(QueryFileError, match=reason):
        Queries(text, "x.sql")


def test_a_package_without_queries_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        load_queries("judgment.kit")
