"""The bench table of the docs: measured, whole, and honest about what was missed."""

from __future__ import annotations

import re

import pytest

from tests.architecture.pages import rows
from tests.architecture.source import ROOT
from tests.bench.report import BEGIN, END

PAGE = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
MEASURED = PAGE.split(BEGIN)[1].split(END)[0]


def budgets() -> list[list[str]]:
    """What, limit, measured and met of each budget."""
    table = MEASURED.partition("## Budgets")[2].partition("\n## ")[0]
    return rows(table)


@pytest.mark.promise("P1-accept-7", "P1-measure")
def test_every_budget_of_this_part_is_measured() -> None:
    assert len(budgets()) >= 10
    for what, limit, measured, met in budgets():
        assert re.search(r"\d", measured) or measured.startswith("not run:"), what
        assert limit, what
        assert met in ("yes", "**no**"), what


@pytest.mark.promise("P1-accept-7")
def test_a_missed_budget_is_explained_by_a_profile_or_by_why_it_did_not_run() -> None:
    missed = [row for row in budgets() if row[3] != "yes" and not row[2].startswith("not run:")]
    profiles = re.findall(r"^### .+\n\n```text\n", MEASURED, re.MULTILINE)
    assert profiles or not missed, missed
