"""Named queries, kept in an idea's `queries.sql` and nowhere else.

A query starts with `-- name: word` and a second comment line that says what it is for; it ends
where the next one starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

_HEAD = re.compile(r"^-- name:[ \t]*(?P<name>[a-z][a-z0-9_]*)[ \t]*$", re.MULTILINE)


class QueryFileError(ValueError):
    """A queries.sql that breaks its form; the message names the file and the query."""


class Queries:
    """The queries of one file, by name."""

    def __init__(self, text: str, source: str):
        self._source = source
        self._statements: dict[str, str] = {}
        self.purposes: dict[str, str] = {}
        heads = list(_HEAD.finditer(text))
        if text[: heads[0].start() if heads else None].strip():
            raise QueryFileError(f"{source}: text before the first query")
        for head, following in zip(heads, [*heads[1:], None], strict=True):
            self._add(head["name"], text[head.end() : following.start() if following else None])

    def __getitem__(self, name: str) -> str:
        """The statement. Raises KeyError naming the file."""
        try:
            return self._statements[name]
        except KeyError:
            raise KeyError(f"{self._source} has no query named {name}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)

    def _add(self, name: str, body: str) -> None:
        purpose, _, statement = body.strip().partition("\n")
        if not purpose.startswith("-- ") or not purpose[3:].strip():
            raise QueryFileError(f"{self._source}: {name} does not say what it is for")
        if not statement.strip():
            raise QueryFileError(f"{self._source}: {name} is empty")
        if name in self._statements:
            raise QueryFileError(f"{self._source}: {name} is there twice")
        self._statements[name] = statement.strip().rstrip(";")
        self.purposes[name] = purpose[3:].strip()


def load_queries(package: str) -> Queries:
    """Read the `queries.sql` that ships inside a package, such as `judgment.profile`.

    Raises QueryFileError, FileNotFoundError.
    """
    text = resources.files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    return Queries(text, f"{package}/queries.sql")
