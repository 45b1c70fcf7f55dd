"""The bench table of the docs: measured, whole, and honest about what was missed."""

from __future__ import annotations

import re

import pytest

from tests.architecture.pages import rows
from tests.architecture.source import ROOT
from tests.bench.report import BEGIN, END

PAGE = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
MEASURED = PAGE.split(BEGIN)[1].split(END)[0]


BUDGETS = (
    ("warm profile read over the bare calls", "≤ 2.5 x"),
    ("without the whole boto3 call", "≤ 0.8 ms"),
    ("authorizer, warm", "≤ 2.5 x or ≤ 0.6 ms more"),
    ("cold import of a read door", "≤ 1.3 x"),
    ("MCP tool call over the same REST call", "≤ 2.2 x"),
    ("MCP door's own time", "≤ 3 ms"),
    ("basic-memory over MCP HTTP", "≥ 5 x faster"),
    ("1, 4, 8, 16 clients: errors", "0"),
    ("UpdateItem + SELECT ceiling", "≥ 40%"),
    ("local gateway over calling the doors", "≤ 3 ms more"),
    ("peak memory of a read door", "≤ 128 MB"),
    ("decisions at 1, 8, 16 clients: errors", "0"),
    ("decision after 10,000 over one after 1,000", "flat (≤ 1.25 x)"),
)
"""What the architecture and the issues ask for, by words of the row that answers it."""


def budgets() -> list[list[str]]:
    """What, limit, measured and met of each budget."""
    table = MEASURED.partition("## Budgets")[2].partition("\n## ")[0]
    return rows(table)


@pytest.mark.promise("P1-accept-7", "P1-measure", "P2-measure")
def test_every_budget_so_far_is_measured() -> None:
    for words, limit in BUDGETS:
        assert [row[1] for row in budgets() if words in row[0]] == [limit], words
    for what, limit, measured, met in budgets():
        assert re.search(r"\d", measured) or measured.startswith("not run:"), what
        assert limit, what
        assert met in ("yes", "**no**"), what


@pytest.mark.promise("P1-accept-7")
def test_a_missed_budget_is_explained_by_a_profile_or_by_why_it_did_not_run() -> None:
    missed = [row for row in budgets() if row[3] != "yes" and not row[2].startswith("not run:")]
    profiles = re.findall(r"^### .+\n\n```text\n", MEASURED, re.MULTILINE)
    assert profiles or not missed, missed
