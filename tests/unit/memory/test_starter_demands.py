"""What the procedures of the starter pack demand of a model, and how little room they take."""

from __future__ import annotations

import json
import math
import re

import pytest

from judgment.memory.starter import STARTER

FIVE = ("finance", "fitness", "career", "relationships", "new-project")
FRAMING = 700
"""Characters that a prompt adds around the texts: the date, labels, what is asked now."""
WINDOW = 3_000
HANDOFF = 3_500
FINANCE = (
    '"This page helps me think and plan. It is not regulated financial, investment, tax or legal'
    ' advice; for that I ask a licensed professional."'
)
ONE_SIDE = (
    '"This page knows only my side. It cannot judge anyone, contact anyone, or tell whether a'
    ' relationship is safe."'
)
REVIEW_ONLY = '"For review only: nothing in this plan is said, sent or done for me."'


def procedure(page: str, kind: str) -> str:
    return STARTER[f"documents/{page}/run-{kind}.md"].decode()


def section(markdown: str, title: str) -> str:
    """One H2 section without its heading; empty where it is missing."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", markdown, re.M | re.S)
    return found[1] if found else ""


def tokens(page: str, kind: str, *more: str) -> int:
    """The stage of an empty page, reckoned as the reference does: characters by four."""
    root = ("AGENT.md", "me/profile.md")
    names = ("AGENT.md", f"run-{kind}.md", "spec.md", "plan.md", *more)
    paths = [*root, *(f"documents/{page}/{name}" for name in names)]
    return math.ceil((sum(len(STARTER[p].decode()) for p in paths) + FRAMING) / 4)


@pytest.mark.promise("P4-starter-size")
@pytest.mark.parametrize("page", FIVE)
def test_interview_and_specification_of_an_empty_page_fit_a_small_window(page: str) -> None:
    assert tokens(page, "interview") <= WINDOW


@pytest.mark.promise("P4-starter-size")
@pytest.mark.parametrize("page", FIVE)
def test_planning_and_the_journal_of_an_empty_page_fit_too(page: str) -> None:
    assert tokens(page, "planning") <= WINDOW
    assert tokens(page, "journal", "journal.md") <= HANDOFF


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("page", FIVE)
@pytest.mark.parametrize("kind", ["interview", "planning"])
def test_the_preservation_rule_names_everything_that_stays(page: str, kind: str) -> None:
    rule = section(procedure(page, kind), "Preservation Rule")
    for kept in ("every heading", "`**Status:**`", "`**Last updated:**`", "`## Changelog`"):
        assert kept in rule
    assert "one section at a time" in rule
    assert "Only an untouched starter template" in rule
    assert ("every italic description" in rule) == (kind == "planning")
    assert ("Replace the italic guidance" in rule) == (kind == "interview")


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("page", FIVE)
def test_an_interview_asks_one_thing_at_a_time_plays_back_and_then_writes_both(page: str) -> None:
    method = section(procedure(page, "interview"), "Method")
    steps = [
        "Your Profile, Your Goals and Your Plan",
        "**Ask one question per turn.**",
        "in the owner's own words",
        "**Stop asking**",
        "about ten exchanges" if page == "fitness" else "four or five useful answers",
        "I want to [outcome] so that [why it matters].",
        "In that same message, name each fact for Your Profile in the owner's words",
        "Never anything sensitive, inferred, uncertain or passing.",
        "Add only what the owner clearly approves",
        "Silence is not approval: go on without it.",
        "**When they answer, write in that same turn:** first Your Goals",
        "then Your Plan",
        "never answer with thanks alone",
    ]
    places = [method.find(step) for step in steps]
    assert -1 not in places, steps[places.index(-1)]
    assert places == sorted(places)


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("page", FIVE)
@pytest.mark.parametrize("kind", ["interview", "planning"])
def test_done_means_status_date_and_changelog_too(page: str, kind: str) -> None:
    done = section(procedure(page, kind), "Done Criteria")
    assert "`**Status:** Active" in done
    assert "today's date from the system context, YYYY-MM-DD" in done
    assert "The changelog has a new line: `- YYYY-MM-DD: " in done


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("page", FIVE)
def test_a_plan_is_done_with_every_part_that_the_reference_asks_for(page: str) -> None:
    done = section(procedure(page, "planning"), "Done Criteria").lower()
    decision = "routing decision" if page == "new-project" else "owner decisions"
    for part in ("first step", "roadmap", decision, "review status", "destination", "in the way"):
        assert part in done
    assert ("created page handoff" in done) == (page == "new-project")
    assert ("constraints, risks and unknowns" in done) == (page == "new-project")


@pytest.mark.promise("P4-starter")
def test_pages_where_it_matters_say_what_has_to_be_written_word_for_word() -> None:
    assert FINANCE in section(procedure("finance", "interview"), "Done Criteria")
    assert ONE_SIDE in section(procedure("relationships", "interview"), "Done Criteria")
    assert ONE_SIDE in section(procedure("relationships", "planning"), "Method")
    assert REVIEW_ONLY in section(procedure("relationships", "planning"), "Method")
    for kind in ("interview", "planning"):
        done = section(procedure("relationships", kind), "Done Criteria")
        assert "Feelings are in the owner's exact words" in done
    fitness = section(procedure("fitness", "planning"), "Done Criteria")
    assert "copied word for word, in quotes" in fitness


@pytest.mark.promise("P4-starter")
def test_fitness_has_a_floor_of_three_baseline_items() -> None:
    interview = procedure("fitness", "interview")
    assert section(interview, "Method").count("(baseline)") == 3
    assert "training, eating, and one measured thing or their wish not to measure" in section(
        interview, "Done Criteria"
    )


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("page", FIVE)
def test_the_journal_is_told_of_once_and_not_written_in_the_first_session(page: str) -> None:
    handoff = section(procedure(page, "planning"), "Handing Off To Your Journal")
    assert "say once" in handoff
    assert "Make sure this page's `journal.md` exists" in handoff
    assert "Write no entry, ask for none, and do not run the journal procedure" in handoff
    journal = procedure(page, "journal")
    when = section(journal, "When to Run")
    assert "Never run this in the session in which the first goals and plan are made" in when
    assert "at most one entry in a conversation" in when


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("page", FIVE)
def test_following_the_journal_procedure_inserts_an_entry_and_changes_nothing_else(
    page: str,
) -> None:
    method = procedure(page, "journal")
    stated = re.search(r"Find: the whole line that starts `([^`]+)`", method)
    assert stated
    lines = STARTER[f"documents/{page}/journal.md"].decode().splitlines()
    (anchor,) = [line for line in lines if line.startswith(stated[1])]
    before = "\n".join(lines) + "\n"
    once = before.replace(anchor, f"{anchor}\n\n## 2026-01-01 - One\n\n**Entry:** first")
    twice = once.replace(anchor, f"{anchor}\n\n## 2026-01-02 - Two\n\n**Entry:** second")
    assert twice.startswith(before)
    assert re.findall(r"^## (.+)$", twice, re.M) == ["2026-01-02 - Two", "2026-01-01 - One"]
    assert "`journal.recovered-YYYY-MM-DD.md`" in method
    assert "do not touch it" in method


@pytest.mark.promise("P4-starter")
def test_the_root_speaks_of_the_owners_names_and_of_what_to_ask_first() -> None:
    root = STARTER["AGENT.md"].decode()
    for name in ("Your Profile", "Your Goals", "Your Plan", "Your Journal"):
        assert name in root
    assert "Never mention a file name, a path or a tool." in root
    assert "Ask first before you keep anything inferred, uncertain, sensitive" in root


@pytest.mark.promise("P4-starter-size")
def test_the_budget_leaves_room_for_a_page_of_answers(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {page: tokens(page, "interview") for page in FIVE}
    with capsys.disabled():
        print(f"\nstarter: interview and specification, tokens by page: {json.dumps(sizes)}")
    assert max(sizes.values()) <= WINDOW - 300
