"""Real people's ballots and votes, from `JUDGMENT_DATA`; tests skip without them.

Ballots: PrefLib 00002-00000001. Votes: gathered with Polis (compdemocracy.org/polis), CC BY 4.0,
The Computational Democracy Project.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from judgment.preferences.solver import Opinion, Option, Participant

ROOT = Path(__file__).resolve().parents[4]
CONVERSATIONS = ("brexit-consensus", "15-per-hour-seattle")

Votes = dict[tuple[str, str], int]


def real_file(name: str) -> Path:
    """The file, or a skipped test that says where it was looked for."""
    data = os.environ.get("JUDGMENT_DATA")
    path = (Path(data) if data else ROOT.parent / "shared" / "data") / name
    if not path.is_file():
        pytest.skip(f"no {name} in JUDGMENT_DATA or ../shared/data")
    return path


def _rows(conversation: str, what: str) -> list[dict[str, str]]:
    with real_file(f"polis/{conversation}.{what}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def statements(conversation: str) -> list[Option]:
    """Every statement as an option that touches one key: agreement with it."""
    return [
        Option(f"s{row['comment-id']}", (f"statement.{row['comment-id']}",), row["comment-body"])
        for row in _rows(conversation, "comments")
    ]


def votes(conversation: str) -> Votes:
    """1 agree, 0 pass, -1 disagree by voter and statement; who voted twice meant the later one."""
    rows = sorted(_rows(conversation, "votes"), key=lambda row: int(row["timestamp"]))
    return {(row["voter-id"], row["comment-id"]): int(row["vote"]) for row in rows}


def voters(cast: Votes) -> list[Participant]:
    """Each voter with an opinion on what they voted on."""
    held: dict[str, dict[str, Opinion]] = {}
    for (voter, statement), vote in cast.items():
        held.setdefault(voter, {})[f"statement.{statement}"] = Opinion(float(vote))
    return [Participant(f"voter-{one}", opinions) for one, opinions in held.items()]


def camps(conversation: str, cast: Votes) -> list[Participant]:
    """The groups that Polis found among the voters, each with its members' mean vote."""
    camp_of = {
        row["participant"]: row["group-id"]
        for row in _rows(conversation, "participants-votes")
        if row["group-id"]
    }
    heard: dict[str, dict[str, list[int]]] = {}
    for (voter, statement), vote in cast.items():
        if voter in camp_of:
            by_key = heard.setdefault(camp_of[voter], {})
            by_key.setdefault(f"statement.{statement}", []).append(vote)
    return [
        Participant(f"camp-{camp}", {key: Opinion(sum(of) / len(of)) for key, of in by_key.items()})
        for camp, by_key in heard.items()
    ]
