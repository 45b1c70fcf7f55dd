"""The starter pack has the canonical files, headings, marks and placeholders, and nothing odd."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from judgment.memory.starter import PAGES, STARTER

pytestmark = pytest.mark.promise("P4-starter", "002-3.2")

TITLES = {
    "finance": ("Finance", "Finance", "Finance"),
    "fitness": ("Fitness", "Fitness", "Fitness"),
    "career": ("Career", "Career", "Career"),
    "relationships": ("Relationships", "Relationships", "Relationships"),
    "new-project": ("New Project", "Project", "New Project"),
}
"""By page: the title of its context, of its procedures, of its journal."""
NEW = "new-project"
PROCEDURES = ("run-interview.md", "run-planning.md", "run-journal.md")
KINDS = ("AGENT.md", *PROCEDURES, "spec.md", "plan.md", "journal.md")
ALONE = {
    "AGENT.md",
    "me/profile.md",
    "me/todo.md",
    "preferences/default.json",
    "documents/your-agent/AGENT.md",
}
FILES = [(page, kind) for page in TITLES for kind in KINDS]

SPEC = [
    "What You Want",
    "Where You Are",
    "What's In The Way",
    "What Good Looks Like",
    "Assumptions And Unknowns",
    "The Plan",
    "What's Still Missing",
    "Changelog",
]
PLAN_START = ["Right Now - Your First Step", "The Roadmap"]
PLAN_MIDDLE = ["Decisions To Make"]
PLAN_MIDDLE_NEW = ["Routing Decision", "Created Page Handoff", "Future Capability Candidates"]
PLAN_END = ["Review Status", "The Destination", "What Needs More Work", "Changelog"]
PROFILE = [
    "Identity & Situation",
    "What Matters To Me",
    "How To Work With Me",
    "BrainDrive Preferences",
    "Changelog",
]
PROCEDURE_START = [
    "Preservation Rule",
    "What This Procedure Accomplishes",
    "When to Run",
    "Method",
]
PROCEDURE_END = ["Done Criteria", "After Running", "What This Procedure Is Not"]
STATUS = {
    "spec.md": "**Status:** Starter template - no interview conducted yet",
    "plan.md": "**Status:** Starter template - no plan created yet",
    "profile.md": "**Status:** Starter template - no owner facts captured yet",
}
COMMENT = "<!-- New entries go directly below this line"
APPROVAL = re.compile(r"^\*\*Profile approval:\*\* (required|not required)$", re.MULTILINE)


def path(page: str, kind: str) -> str:
    return f"documents/{page}/{kind}"


def text(where: str) -> str:
    return STARTER[where].decode()


def outside_fences(markdown: str) -> list[str]:
    lines: list[str] = []
    fenced = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    assert not fenced
    return lines


def headings(markdown: str, level: int) -> list[str]:
    mark = "#" * level + " "
    return [x.removeprefix(mark) for x in outside_fences(markdown) if x.startswith(mark)]


def fences(markdown: str) -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", markdown, re.DOTALL | re.MULTILINE)


def sections(markdown: str) -> dict[str, list[str]]:
    """The lines of each H2 section, empty ones left out."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"^## ", markdown, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        found[title] = [line for line in body.splitlines() if line]
    return found


def placeholders(markdown: str) -> Counter[str]:
    return Counter(line for line in outside_fences(markdown) if line.startswith("To be filled"))


def wanted_headings(page: str, kind: str) -> tuple[str, list[str]]:
    """The canonical H1 and H2 of a page's file (reference §3.1)."""
    title, procedure, journal = TITLES[page]
    new = page == NEW
    if kind == "spec.md":
        belongs = ["Why This Belongs Here"] if new else []
        return "Your Goals", [*SPEC[:3], *belongs, *SPEC[3:]]
    if kind == "plan.md":
        middle = PLAN_MIDDLE_NEW if new else PLAN_MIDDLE
        return "Your Plan", [*PLAN_START, *middle, *PLAN_END]
    if kind == "journal.md":
        return f"Your {journal} Journal", []
    if kind == "run-interview.md":
        prep = ["Conversation Prep and Boundaries"] if page == "relationships" else []
        return f"{procedure} Interview", [*PROCEDURE_START, *prep, *PROCEDURE_END]
    if kind == "run-planning.md":
        handoff = ["Handing Off To Your Journal"]
        return f"{procedure} Planning", [*PROCEDURE_START, *PROCEDURE_END, *handoff]
    if kind == "run-journal.md":
        end = ["Close-Out", "What This Procedure Is Not"]
        return f"{procedure} Journal", [*PROCEDURE_START, *end]
    start = ["What You're Building Here", "What This Project Does", f"Orienting to {title}"]
    tone = [] if page == "finance" else ["Tone"]
    return f"{title} - Agent Context", [
        *start,
        *tone,
        "Boundaries",
        "Your Journal (after the plan)",
    ]


def test_the_pack_is_these_files_and_no_other() -> None:
    assert set(STARTER) == ALONE | {path(*file) for file in FILES}
    assert len(STARTER) == 40


def test_the_pages_come_in_the_order_and_with_the_pictures_of_the_reference() -> None:
    assert [(page.id, page.name, page.icon) for page in PAGES] == [
        ("your-agent", "Your Agent", "sparkles"),
        ("finance", "Finance", "dollar-sign"),
        ("fitness", "Fitness", "dumbbell"),
        ("career", "Career", "briefcase"),
        ("relationships", "Relationships", "users"),
        ("new-project", "Your New Project", "folder-plus"),
    ]


@pytest.mark.parametrize(("page", "kind"), FILES)
def test_a_page_file_has_its_headings_once_and_in_order(page: str, kind: str) -> None:
    markdown = text(path(page, kind))
    title, parts = wanted_headings(page, kind)
    assert markdown.startswith(f"# {title}\n")
    assert headings(markdown, 1) == [title]
    assert headings(markdown, 2) == parts


@pytest.mark.parametrize(("page", "kind"), FILES)
def test_only_the_journal_procedure_has_headings_below(page: str, kind: str) -> None:
    method = ["Writing an entry", "Viewing or correcting", "Pattern reflection"]
    markdown = text(path(page, kind))
    assert headings(markdown, 3) == (method if kind == "run-journal.md" else [])
    assert headings(markdown, 4) == []


def test_the_owner_profile_file_has_its_headings_once_and_in_order() -> None:
    markdown = text("me/profile.md")
    assert headings(markdown, 1) == ["Your Profile"]
    assert headings(markdown, 2) == PROFILE
    assert placeholders(markdown) == {"To be filled through conversation.": 4}


@pytest.mark.parametrize(
    "where", ["me/profile.md", *(path(*file) for file in FILES if file[1] in STATUS)]
)
def test_what_is_filled_later_says_so_in_its_status_date_and_changelog(where: str) -> None:
    lines = text(where).splitlines()
    assert [x for x in lines if x.startswith("**Status:**")] == [STATUS[where.rsplit("/")[-1]]]
    assert [x for x in lines if x.startswith("**Last updated:**")] == ["**Last updated:** -"]
    assert sections(text(where))["Changelog"] == ["- Starter template created."]
    assert lines.index("**Last updated:** -") < lines.index(f"## {headings(text(where), 2)[0]}")


@pytest.mark.parametrize("page", TITLES)
def test_goals_have_their_two_lines_and_a_placeholder_in_each_other_section(page: str) -> None:
    markdown = text(path(page, "spec.md"))
    parts = sections(markdown)
    guidance, *goals = parts["What You Want"]
    assert re.fullmatch(r"\*[^*]+\*", guidance)
    assert goals[0] == "**Main goal:** I want to [outcome] so that [why it matters]."
    assert goals[1] == "**Supporting goals:**"
    assert len(goals) == 3
    assert re.fullmatch(r"- .*\[.+\].*", goals[2])
    to_fill = {"To be filled through conversation.": 7 if page == NEW else 6}
    assert placeholders(markdown) == to_fill


@pytest.mark.parametrize("page", TITLES)
def test_a_plan_has_the_placeholders_of_the_reference(page: str) -> None:
    expected = {
        "To be filled after alignment...": 3,
        "To be filled through conversation.": 1,
        "To be filled as the owner makes progress.": 1,
        "To be filled as goals get more specific.": 1,
    }
    if page == NEW:
        expected |= {
            "To be filled when a new page is created.": 1,
            "To be filled only when relevant.": 1,
        }
    assert placeholders(text(path(page, "plan.md"))) == expected


@pytest.mark.parametrize("page", TITLES)
@pytest.mark.parametrize("kind", ["spec.md", "plan.md"])
def test_every_section_to_fill_is_one_line_of_guidance_and_one_to_replace(
    page: str, kind: str
) -> None:
    for title, lines in sections(text(path(page, kind))).items():
        if title not in ("What You Want", "Changelog"):
            assert len(lines) == 2, title
            assert re.fullmatch(r"\*[^*]+\*", lines[0]), title
            assert re.fullmatch(r"To be filled .+\.", lines[1]), title


@pytest.mark.parametrize("page", TITLES)
def test_a_journal_is_a_title_a_line_and_the_comment_under_which_entries_go(page: str) -> None:
    markdown = text(path(page, "journal.md"))
    shape = rf"# Your {TITLES[page][2]} Journal\n\n[^#<\n]+\n\n{re.escape(COMMENT)}[^\n]* -->\n"
    assert re.fullmatch(shape, markdown)
    assert not re.search(r"Status|Last updated|Changelog", markdown)


@pytest.mark.parametrize("page", TITLES)
def test_the_journal_procedure_makes_a_lost_journal_anew_as_it_was(page: str) -> None:
    entry, header = fences(text(path(page, "run-journal.md")))
    assert header.encode() == STARTER[path(page, "journal.md")]
    assert entry.startswith("## YYYY-MM-DD - Short Entry Title\n")
    fields = re.findall(r"^\*\*(.+?):\*\* (.+)$", entry, re.MULTILINE)
    names = ["Source", "Page", "Context", "Entry", "Signals", "Follow-up", "Status"]
    assert [name for name, _ in fields] == names
    assert dict(fields)["Signals"] == "Win / Blocker / Change / Pattern hypothesis"
    assert dict(fields)["Follow-up"] == "Proposed task / Proposed spec/plan adjustment"
    assert dict(fields)["Status"] == "captured / needs owner review / parent adjusted"


@pytest.mark.parametrize("where", sorted(STARTER))
def test_a_text_is_plain_ascii_with_a_final_newline(where: str) -> None:
    content = STARTER[where]
    assert content.isascii()
    assert not re.search(rb"[\r\t\x00]|[ ]\n|\n\n\n|\n\n\Z", content)
    assert content.endswith(b"\n")


@pytest.mark.promise("R-11")
def test_interviews_alone_carry_the_line_on_profile_approval_once() -> None:
    found = {where: APPROVAL.findall(text(where)) for where in STARTER}
    assert {where: said for where, said in found.items() if said} == {
        path(page, "run-interview.md"): ["required"] for page in TITLES
    }


@pytest.mark.promise("P4-approval-mode")
def test_the_default_preferences_are_the_approval_mode_and_nothing_else() -> None:
    content = text("preferences/default.json")
    assert json.loads(content) == {"approval_mode": "auto-approve"}
    assert content == '{\n  "approval_mode": "auto-approve"\n}\n'


@pytest.mark.promise("P4-overlay")
def test_no_overlay_is_laid_down_and_the_root_says_what_one_is() -> None:
    assert [where for where in STARTER if "-user." in where] == []
    root = text("AGENT.md")
    assert "`X-user.md` beside `X.md`" in root
    assert "right after `X.md`" in root


def test_what_the_owner_reads_names_no_file_and_no_path() -> None:
    read = ["me/profile.md", "me/todo.md"]
    read += [path(page, kind) for page in TITLES for kind in ("spec.md", "plan.md", "journal.md")]
    assert [where for where in read if re.search(r"\.md|documents/|memory_|`", text(where))] == []


def test_the_texts_of_a_new_project_fit_a_page_of_any_name() -> None:
    for kind in KINDS:
        assert "documents/" not in text(path(NEW, kind))
        assert "new-project" not in text(path(NEW, kind))
