"""SQL is read as SQL: in `queries.sql` and migrations, run from `store.py` and `judgment.db`."""

from __future__ import annotations

import ast
import re

from tests.architecture.source import ROOT, named, python_files, tracked, tree

STATEMENT = re.compile(
    r"^\s*(--.*\n\s*)*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS"
    r"|CREATE\s+(TABLE|ROLE|INDEX|POLICY|SCHEMA|FUNCTION|DATABASE)|ALTER\s+(TABLE|ROLE)"
    r"|GRANT\s.+\s(ON|TO)\s|REVOKE\s.+\s(ON|FROM)\s|TRUNCATE\s|DROP\s+\w+\s)",
    re.IGNORECASE,
)
HOMES = ("shared/judgment/db/", "infra/local/")


def _statements(path) -> list[str]:
    return [
        f"{named(path)}:{node.lineno} {node.value.strip()[:40]}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and STATEMENT.match(node.value)
    ]


def test_sql_stands_in_stores_and_nowhere_else() -> None:
    found = [
        place
        for path in python_files("shared", "functions", "infra")
        if path.name != "store.py" and not named(path).startswith(HOMES)
        for place in _statements(path)
    ]
    assert not found, "\n".join(found)


def test_the_pattern_knows_sql_from_words() -> None:
    assert STATEMENT.match("select 1")
    assert STATEMENT.match("\n  -- why\n  INSERT INTO a VALUES (1)")
    assert STATEMENT.match("update judgment.outbox set sent_at = now()")
    assert not STATEMENT.match("Selects the newest decision.")
    assert STATEMENT.match("GRANT SELECT ON judgment.decisions TO judgment_reader")
    assert not STATEMENT.match("update the profile")
    assert not STATEMENT.match("Revoke a key.")


def test_each_query_has_a_name_and_a_line_that_says_its_purpose() -> None:
    files = [ROOT / p for p in tracked() if p.endswith("queries.sql")]
    for path in files:
        blocks = re.split(r"^-- name: *", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert len(blocks) > 1, named(path)
        for block in blocks[1:]:
            lines = block.splitlines()
            assert re.fullmatch(r"[a-z][a-z0-9_]*", lines[0].strip()), f"{named(path)}: {lines[0]}"
            assert lines[1].startswith("-- "), f"{named(path)}: {lines[0]} does not say why"


def test_every_named_query_is_used() -> None:
    for path in (ROOT / p for p in tracked() if p.endswith("queries.sql")):
        names = re.findall(r"^-- name: *(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        code = "".join(p.read_text(encoding="utf-8") for p in path.parent.glob("*.py"))
        assert [n for n in names if not re.search(rf"\b{n}\b", code)] == [], named(path)
        assert len(names) == len(set(names)), named(path)


def test_no_sql_is_put_together_from_values() -> None:
    """An f-string, a percent or a format around SQL is how an injection begins."""
    found = [
        f"{named(path)}:{node.lineno}"
        for path in python_files("shared", "functions")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.JoinedStr)
        and any(isinstance(p, ast.Constant) and STATEMENT.match(str(p.value)) for p in node.values)
    ]
    identifiers_only = {"shared/judgment/db/roles.py", "shared/judgment/db/owner_table.py"}
    assert [place for place in found if place.split(":")[0] not in identifiers_only] == []
