"""What is timed against what when a group's ranking is measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from judgment.preferences.solver import options_from, participants_from, solve, verify
from tests.bench.measurements import solving
from tests.bench.measurements.solving import KEYS_OF_AN_OPTION, SIZES
from tests.bench.peers import voting
from tests.bench.peers.environments import LOCKS
from tests.bench.peers.peer import PeerUnavailable
from tests.bench.peers.voting import PrefVoting

pytestmark = pytest.mark.promise("P3-measure")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_both_sides_decide_on_as_many_numbers(size: Any) -> None:
    options, participants = size.problem()
    rankings = size.rankings()
    assert len(rankings) == len(participants) == size.participants
    assert {len(order) for order in rankings} == {size.options}
    assert {len(one["weights"]) for one in participants} == {size.options}
    assert {len(one["keys"]) for one in options} == {KEYS_OF_AN_OPTION}
    trace = solve(options_from(options), participants_from(participants)).trace
    assert len(trace["ranking"]) == size.options
    assert verify(trace) == []


def test_the_peer_is_installed_from_a_list_with_hashes() -> None:
    text = (LOCKS / "pref_voting.lock").read_text()
    assert "--hash=sha256:" in text
    assert "://" not in text


def test_a_peer_that_does_not_run_is_said_and_ours_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Broken(PrefVoting):
        class environment:
            @staticmethod
            def install() -> Path:
                program = tmp_path / "python"
                program.write_text(f"#!{sys.executable}\nraise SystemExit('no pref_voting')\n")
                program.chmod(0o700)
                return tmp_path

    class Short:
        rounds = 1

    monkeypatch.setattr(solving, "PrefVoting", Broken)
    monkeypatch.setattr(solving, "SIZES", SIZES[:1])
    section = solving.measure(Short())  # type: ignore[arg-type]
    assert [one.met for one in section.budgets] == [False]
    assert section.budgets[0].measured.startswith("not run: ")
    assert "pref_voting" in section.budgets[0].measured
    assert section.tables[0].rows[0][0] == solving.OURS
    with pytest.raises(PeerUnavailable), Broken().open({}):
        pass
    assert voting.PrefVoting.name in section.lead
