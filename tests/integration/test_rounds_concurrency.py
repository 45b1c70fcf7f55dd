"""Many at once: one owner's submissions take turns, and nobody waits for somebody else."""

from __future__ import annotations

import json
import subprocess
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.local.waiting import wait_for
from judgment.contract.rounds import DecisionRequest
from judgment.db.connection import Database
from judgment.kit.errors import Refusal
from judgment.kit.hashing import sha256_hex
from judgment.profile import store as profiles
from judgment.profile.progress import ProfileProgress
from judgment.scenarios.personal.context import PersonalContexts
from tests.fakes.bus import FakeBus, FakeQueue
from tests.fakes.people import make_owner
from tests.fakes.rounds import TestClock, everything_of, rounds_over, rows, store_scenario
from tests.functions.test_rounds import assert_profile_equals_rebuild
from tests.integration.rounds_child import Storm, arguments

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.decision import Decision
    from judgment.profile.progress import Progress
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-3-serial", "P2-refuse-twice", "P2-accept-3")

ROOT = Path(__file__).parents[2]
PROCESSES = 4
THREADS = 8


def storm(
    database: TestDatabase, who: uuid.UUID, folder: Path, lists: list[list[str]], *, keys: bool
) -> list[list[Any]]:
    """Let threads of several processes decide at once, each on its list; what each was answered."""
    share = len(lists) // PROCESSES
    go = folder / "go"
    children = [
        subprocess.Popen(
            arguments(
                Storm(
                    url=database.url("judgment_owner"),
                    owner=str(who),
                    scenarios=lists[n * share : (n + 1) * share],
                    keys=keys,
                    go=str(go),
                    bus=str(folder / "bus"),
                    queue=str(folder / "queue"),
                )
            ),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(PROCESSES)
    ]
    answers: list[list[Any]] = []
    try:
        for child in children:
            assert child.stdout
            assert child.stdout.readline() == "ready\n"
        go.touch()
        for child in children:
            answers += json.loads(child.communicate(timeout=120)[0])
            assert child.returncode == 0
    finally:
        for child in children:
            child.kill()
            child.wait()
            if child.stdout:
                child.stdout.close()
    return answers


def test_thirty_two_at_once_are_thirty_two_decisions_in_one_order(
    module_database: TestDatabase, tmp_path: Path
):
    who = make_owner(module_database)
    lists = [
        [str(store_scenario(module_database).id) for _ in range(3)]
        for _ in range(PROCESSES * THREADS)
    ]
    answers = storm(module_database, who, tmp_path, lists, keys=False)
    count = 3 * PROCESSES * THREADS
    assert all(isinstance(answer, dict) for _, answer in answers)
    assert sorted(answer["games_played"] for _, answer in answers) == [*range(1, count + 1)]
    assert_profile_equals_rebuild(module_database, who, count)
    in_order = sorted(answers, key=lambda pair: pair[1]["games_played"])
    times = [answer["recorded_at"] for _, answer in in_order]
    assert len(set(times)) == count
    snapshots = rows(
        module_database,
        "SELECT (s.profile_state ->> 'games_analyzed')::int, d.id::text"
        " FROM public.evaluation_snapshots s JOIN judgment.decisions d ON d.id = s.choice_id"
        " WHERE s.user_id = %s ORDER BY d.recorded_at",
        who,
    )
    assert [games for games, _ in snapshots] == [None, *range(1, count)]
    assert [decision for _, decision in snapshots] == [
        answer["decision_id"] for _, answer in in_order
    ]


def test_the_same_submission_to_every_process_without_a_key_is_one_decision(
    module_database: TestDatabase, tmp_path: Path
):
    who = make_owner(module_database)
    contested = [str(store_scenario(module_database).id) for _ in range(3)]
    answers = storm(module_database, who, tmp_path, [contested] * (PROCESSES * THREADS), keys=False)
    for scenario in contested:
        outcomes = Counter(
            answer if isinstance(answer, str) else "recorded"
            for told, answer in answers
            if told == scenario
        )
        assert outcomes == {"recorded": 1, "conflict": PROCESSES * THREADS - 1}
    assert_profile_equals_rebuild(module_database, who, 3)
    kept = everything_of(module_database, who)
    assert len(kept["judgment.decisions"]) == len(kept["public.evaluation_snapshots"]) == 3


def test_the_same_submission_to_every_process_with_its_key_is_one_decision_and_one_answer(
    module_database: TestDatabase, tmp_path: Path
):
    who = make_owner(module_database)
    contested = [str(store_scenario(module_database).id) for _ in range(3)]
    answers = storm(module_database, who, tmp_path, [contested] * (PROCESSES * THREADS), keys=True)
    for scenario in contested:
        told = [answer for each, answer in answers if each == scenario]
        assert len(told) == PROCESSES * THREADS
        assert all(answer == told[0] for answer in told)
        assert isinstance(told[0], dict)
    assert_profile_equals_rebuild(module_database, who, 3)
    assert len(everything_of(module_database, who)["judgment.outbox"]) == 6


class Held:
    """A profile's progress that waits inside its transaction until it is let go."""

    def __init__(self) -> None:
        self.inside, self.let_go = threading.Event(), threading.Event()

    def record(self, tx: Transaction, user_id: uuid.UUID, decision: Decision) -> Progress:
        self.inside.set()
        assert self.let_go.wait(30)
        return ProfileProgress(profiles).record(tx, user_id, decision)


class Player:
    """Somebody at a connection of their own, who plays in a thread."""

    def __init__(self, database: TestDatabase, who: uuid.UUID, **parts: Any):
        self.who = who
        self.postgres = Database(database.url("judgment_owner"), application_name=f"p-{who}"[:20])
        self.rounds = rounds_over(self.postgres, FakeBus(), FakeQueue(), TestClock(), **parts)
        self.answers: list[Any] = []

    def play(self, scenario_id: uuid.UUID) -> threading.Thread:
        thread = threading.Thread(target=self._play, args=(scenario_id,))
        thread.start()
        return thread

    def _play(self, scenario_id: uuid.UUID) -> None:
        request = DecisionRequest(scenario_id=scenario_id, option_id="open")
        try:
            self.answers.append(self.rounds.record(self.who, request, None, "c").games_played)
        except Refusal as refusal:
            self.answers.append(refusal.code)
        self.postgres.close()


@pytest.fixture
def players(module_database: TestDatabase) -> Iterator[list[Player]]:
    made: list[Player] = []
    yield made
    for player in made:
        player.postgres.close()


def test_another_owner_does_not_wait_and_the_same_one_does(
    module_database: TestDatabase, players: list[Player]
):
    held = Held()
    who, other = make_owner(module_database), make_owner(module_database)
    shared, own = store_scenario(module_database), store_scenario(module_database)
    first = Player(module_database, who, profiles=held)
    second, stranger = Player(module_database, who), Player(module_database, other)
    players += [first, second, stranger]
    slow = first.play(shared.id)
    assert held.inside.wait(30)
    waiting = second.play(own.id)
    assert wait_for(lambda: is_waiting(module_database, second), 30)
    stranger.play(shared.id).join(30)
    assert stranger.answers == [1]
    assert second.answers == []
    held.let_go.set()
    slow.join(30)
    waiting.join(30)
    assert (first.answers, second.answers) == ([1], [2])


@pytest.mark.promise("R-4", "000-7-delete")
def test_a_context_emptied_while_a_first_decision_copies_it_leaves_no_copy(
    module_database: TestDatabase, players: list[Player]
):
    who, held = make_owner(module_database), Held()
    writer = Database(module_database.url("judgment_owner"), application_name=f"p-{who}"[:20])
    contexts = PersonalContexts(writer.transaction)
    contexts.write(who, "I sell boats.")
    first = Player(module_database, who, profiles=held)
    players.append(first)
    slow = first.play(store_scenario(module_database).id)
    assert held.inside.wait(30)
    emptying = threading.Thread(target=contexts.write, args=(who, ""))
    emptying.start()
    assert wait_for(lambda: is_waiting(module_database, first), 30)
    held.let_go.set()
    slow.join(30)
    emptying.join(30)
    writer.close()
    assert first.answers == [1]
    assert rows(
        module_database,
        "SELECT personal_context_snapshot, personal_context_sha256"
        " FROM public.evaluation_snapshots WHERE user_id = %s",
        who,
    ) == [(None, sha256_hex("I sell boats."))]


def is_waiting(database: TestDatabase, player: Player) -> bool:
    """Whether that player's connection stands in a queue for a lock."""
    found = rows(
        database,
        "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
        " AND application_name = %s",
        database.name,
        f"p-{player.who}"[:20],
    )
    return bool(found)
