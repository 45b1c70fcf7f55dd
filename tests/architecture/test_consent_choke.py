"""Nobody but the disclosure choke reads a document for a principal; every reader is named here.

In files the choke is `disclosure.disclose`; in Postgres it is the function `disclose_preferences`,
past which the door's role can read nothing (`tests/integration/test_preferences_rights.py`).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import ROOT, named, python_files, tree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-consent-choke", "001-consent")

PREFERENCES = "shared/judgment/preferences/"
COMMANDS = "shared/judgment/cli/preferences/"

# Who reads a compiled document out of a store, and why that shows it to nobody else.
READERS = {
    f"{PREFERENCES}disclosure.py": "The choke: consent, then the ledger, then what is open.",
    f"{PREFERENCES}local/reading.py": "How a file is opened; it shows nothing by itself.",
    f"{PREFERENCES}local/store.py": "The store's own method, and earlier versions for `diff`.",
    f"{PREFERENCES}local/publishing.py": "Compares digests before it writes.",
    f"{PREFERENCES}local/checking.py": "Compares digests for `doctor`.",
    f"{PREFERENCES}local/forgetting.py": "Takes a forgotten key out of earlier versions.",
    f"{COMMANDS}reading.py": "`get` and `inject` of the owner, in the owner's own terminal: self.",
    f"{COMMANDS}files.py": "The owner's own document and versions, for `get` and `diff`: self.",
    f"{COMMANDS}hosted.py": "The owner's copy of what the API disclosed and ledgered: self.",
    f"{COMMANDS}fulcra.py": "Sends the owner's documents to the owner's own account.",
    f"{COMMANDS}copying.py": "Compares and replaces the owner's copy of hosted documents.",
    f"{COMMANDS}keeping.py": "Looks for a document when a store is set up.",
    f"{COMMANDS}capturing.py": "Says to the owner what a capture replaced: self.",
    f"{COMMANDS}queueing.py": "Says to the owner what a notice corrects: self.",
    f"{COMMANDS}disclosing.py": "Which keys a glob means; the choke decides about each of them.",
    f"{COMMANDS}explanations.py": "Two files that the owner names, for `diff`: self.",
}
# Who asks the database's choke.
ASKERS = {f"{PREFERENCES}reading.py", f"{PREFERENCES}deciding.py"}
CHOKES = {"disclose_preferences", "disclose_signals"}
# Statements that touch the tables by themselves: the compiler, the owner's append and delete.
STATEMENTS = {
    "preference_documents": {"keep_document", "drop_documents"},
    "preference_signals": {"known_signals", "add_signal", "delete_signal", "statements"},
}


def calls(path: Path, names: set[str]) -> bool:
    """Whether the file imports something of these names, or asks an object for it."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.ImportFrom) and names & {alias.name for alias in node.names})
        for node in ast.walk(tree(path))
    )


def product() -> list[Path]:
    """The code that runs."""
    return python_files("shared/judgment", "functions")


def test_every_reader_of_a_document_in_files_is_named_with_its_reason() -> None:
    found = {
        named(path)
        for path in product()
        if calls(path, {"document", "read_document"})
        and named(path).startswith((PREFERENCES, COMMANDS, "functions/preferences"))
    }
    assert found - {f"{PREFERENCES}documents.py"} == set(READERS)
    assert all(READERS.values())


def test_no_other_idea_and_no_door_knows_where_documents_are_kept() -> None:
    homes = ("judgment.preferences.local", "judgment.preferences.documents")
    for path in product():
        if named(path).startswith((PREFERENCES, COMMANDS)):
            continue
        told = ast.unparse(tree(path))
        assert not any(home in told for home in homes), named(path)


def test_the_databases_choke_is_asked_in_two_places_and_they_are_given_an_asker() -> None:
    asking = {named(path) for path in product() if calls(path, CHOKES)}
    assert asking - {f"{PREFERENCES}store.py"} == ASKERS
    for path in map(ROOT.joinpath, ASKERS):
        assert "Asker" in path.read_text(encoding="utf-8")


@pytest.mark.promise("P3-ledger", "R-18")
def test_no_statement_reads_documents_or_signals_but_the_compilers() -> None:
    text = (ROOT / PREFERENCES / "queries.sql").read_text(encoding="utf-8")
    queries = dict(re.findall(r"-- name: (\w+)\n(.*?)(?=\n-- name:|\Z)", text, re.DOTALL))
    for table, allowed in STATEMENTS.items():
        touching = {name for name, sql in queries.items() if f"judgment.{table}" in sql}
        assert touching == allowed
    for name, sql in queries.items():
        if name in CHOKES:
            assert f"judgment.{name}(" in sql
