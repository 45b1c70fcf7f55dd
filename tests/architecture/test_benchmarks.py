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
    ("compile of 10,000 validated signals, median", "≤ 28 ms"),
    ("compile 10,000 signals over `json.loads` of the same bytes", "≤ 5 x"),
    ("one signal among 100,000 over one among 10,000", "linear (≤ 2 x)"),
    ("solve 6 x 20 with its trace", "< 1 x"),
    ("solve 200 x 100 with its trace", "< 1 x"),
    ("consent check of 50 grants over cedarpy", "< 1 x"),
    ("captures at once on one key and on many", "100"),
    ("hosted read of preferences over the bare SQL it needs, own, ledger on", "≤ 2.5 x"),
    ("another owner's, consent and ledger on", "≤ 2.5 x"),
    ("prefs inject", "≤ 100 ms more"),
    ("prefs get", "≤ 100 ms more"),
    ("prefs --help", "≤ 100 ms more"),
    ("import of 10,000 revisions over git clone", "≤ 10 x"),
)
"""What the architecture and the issues ask for, by words of the row that answers it."""


def budgets() -> list[list[str]]:
    """What, limit, measured and met of each budget."""
    table = MEASURED.partition("## Budgets")[2].partition("\n## ")[0]
    return rows(table)


@pytest.mark.promise("P1-accept-7", "P1-measure", "P2-measure", "P3-measure", "P4-measure")
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


FIGURES = (
    "first byte of text, after the provider's first token",
    "one turn through the gateway",
    "streams open at the same moment",
    "answers with another's words",
    "memory of one more stream, MB",
    "judgment memory import",
    "judgment memory export",
)
"""What messages and memory were to be measured by, where there is no budget for it."""


@pytest.mark.promise("P4-measure")
@pytest.mark.parametrize("words", FIGURES)
def test_figures_without_a_budget_are_measured_too(words: str) -> None:
    found = [row for row in rows(MEASURED) if row[0].startswith(words)]
    assert found, words
    assert all(re.search(r"\d", row[1]) for row in found), found
