"""What can go wrong while a round is made: the provider, the database, the counters, death.

After each: a round was served or a refusal said why, what was spent is on record once, and nothing
is half written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.db.connection import Database
from judgment.scenarios.personal.context import PersonalContexts
from tests.architecture.source import ROOT
from tests.fakes.drafts import good
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Cut, Drip, Flood, HangUp, Late, Raw, completion
from tests.fakes.model_wire import Fail, Say
from tests.fakes.models import in_turn
from tests.fakes.people import run_as_admin
from tests.fakes.workshop import Workshop, client_of, filled

if TYPE_CHECKING:
    from tests.databases import TestDatabase
    from tests.fakes.model_trouble import Trouble
    from tests.fakes.model_wire import Reply

pytestmark = pytest.mark.promise("P2-7", "P2-accept-3")

DOWN = "http://127.0.0.1:9"
"""The discard port: nobody is there."""


@pytest.fixture
def w(module_database: TestDatabase) -> Iterator[Workshop]:
    workshop = Workshop(module_database)
    workshop.shelf()
    yield workshop
    workshop.close()


def over(w: Workshop, url: str, timeout_seconds: float = 12.0) -> Workshop:
    """The door with the real client of a provider at that address."""
    return Workshop(w.database, client_of(url, timeout_seconds))


def assert_fell_back(w: Workshop, calls: list[str]) -> None:
    """One request ends in a canonical round, counted once, with its calls and event on record."""
    who = w.person()
    status, body = w.make(who)
    assert (status, body["personalized"]) == (201, False)
    assert w.used(who) == 1
    assert w.calls(who) == calls
    assert w.stored(who) == []
    assert [str(event.subject_id) for event in w.bus.taken] == [body["id"]]
    w.close()


@pytest.mark.promise("P2-refuse-provider", "R-32")
@pytest.mark.parametrize(
    ("trouble", "calls"),
    [
        (HangUp(), ["unreachable"] * 2),
        (Cut(), ["unreachable"] * 2),
        (Late(30.0), ["timeout"] * 2),
        (Drip(0.05), ["timeout"] * 2),
        (Fail(429), ["rate_limited"] * 2),
        (Fail(500), ["provider_error"] * 2),
        (Fail(503), ["provider_error"] * 2),
        (Fail(401), ["unauthorized"]),
        (completion('{"title"', finish_reason="length"), ["truncated"]),
        (completion(""), ["empty"]),
        (completion(None, message={"refusal": "No.", "content": None}), ["refused"]),
        (completion("x", finish_reason="content_filter"), ["refused"]),
        (Flood(10 * 1_048_576), ["too_large"]),
        (Flood(10 * 1_048_576, announced=False), ["too_large"]),
        (Raw(b"<html>gateway</html>"), ["provider_error"]),
        (Say("not JSON"), ["invalid_output"] * 2),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else type(value).__name__,
)
def test_a_provider_in_trouble_ends_in_a_canonical_round(
    w: Workshop,
    trouble: Reply | Trouble,
    calls: list[str],
    capsys: pytest.CaptureFixture[str],
):
    with ModelServer(always("")) as server:
        server.script = lambda turn: trouble
        slow = isinstance(trouble, Late | Drip)
        assert_fell_back(over(w, server.url, 0.3 if slow else 12.0), calls)
        assert len(server.turns) == len(calls)
    (line,) = [x for x in capsys.readouterr().out.splitlines() if "scenario.fell_back" in x]
    told = json.loads(line)
    assert (told["code"], told["model"]) == (calls[-1], "openai-compatible:fake-model")


@pytest.mark.promise("P2-refuse-provider")
def test_nobody_at_the_providers_address_is_a_canonical_round(w: Workshop):
    assert_fell_back(over(w, DOWN), ["unreachable", "unreachable"])


@pytest.mark.promise("P2-refuse-provider")
def test_trouble_that_passes_is_not_noticed(w: Workshop):
    with ModelServer(always("")) as server:
        replies: list[Any] = [Fail(500)]

        def recovering(turn: Any) -> Any:
            if replies:
                return replies.pop()
            shape = turn.body["response_format"]["json_schema"]["name"]
            return Say(json.dumps(good(shape)))

        server.script = recovering
        mended = over(w, server.url)
        who = mended.person()
        status, body = mended.make(who)
        mended.close()
    assert (status, body["personalized"]) == (201, True)
    assert w.calls(who) == ["ok", "provider_error"]
    tokens = w.rows(
        "SELECT sum(prompt_tokens), sum(completion_tokens) FROM judgment.model_calls"
        " WHERE user_id = %(who)s",
        who=who,
    )
    assert tokens == [(10, 5)]


@pytest.mark.promise("R-4", "000-7-delete")
def test_a_context_emptied_while_the_model_writes_leaves_nothing_made_from_it(w: Workshop):
    who = w.person()
    other = Database(w.database.url("judgment_owner"))
    contexts = PersonalContexts(other.transaction)

    def emptied(role: Any, prompt: Any, shape: Any) -> str:
        contexts.write(who, "")
        return filled(role, prompt, shape)

    w.scripted.script = emptied
    status, body = w.make(who)
    other.close()
    assert (status, body["code"]) == (400, "invalid_request")
    assert w.stored(who) == []
    assert (w.calls(who), w.used(who)) == (["ok"], 1)


def test_an_owner_erased_while_the_model_writes_is_404_and_leaves_nothing(w: Workshop):
    who = w.person()

    def erased(role: Any, prompt: Any, shape: Any) -> str:
        run_as_admin(w.database, "DELETE FROM auth.users WHERE id = %s", who)
        return filled(role, prompt, shape)

    w.scripted.script = erased
    assert w.make(who)[0] == 404
    assert (w.stored(who), w.calls(who)) == ([], [])


@pytest.mark.promise("P2-refuse-postgres")
def test_a_database_lost_while_the_model_writes_is_503_with_nothing_half_written(w: Workshop):
    who = w.person()

    def lost(role: Any, prompt: Any, shape: Any) -> str:
        w.lose_database()
        return filled(role, prompt, shape)

    w.scripted.script = lost
    status, body = w.make(who)
    assert (status, body["code"]) == (503, "unavailable")
    assert (w.stored(who), w.calls(who), w.used(who)) == ([], [], 1)
    w.cut, w.scripted.script = False, filled
    assert w.make(who)[0] == 201


def test_a_bus_that_is_down_costs_nothing_but_time(w: Workshop):
    w.bus.down = True
    w.scripted.script = in_turn("refused")
    who = w.person()
    assert w.make(who)[0] == 201
    unsent = w.rows(
        "SELECT type FROM judgment.outbox WHERE user_id = %(who)s AND sent_at IS NULL", who=who
    )
    assert unsent == [("scenario.fell_back",)]


@pytest.mark.promise("P2-refuse-killed", "P2-accept-3")
def test_a_death_between_answer_and_commit_costs_one_request_and_half_writes_nothing(w: Workshop):
    who = w.person()
    child = subprocess.run(
        [
            *(sys.executable, "-m", "tests.functions.workshop_child"),
            *(w.database.server.url("judgment_owner", w.database.name), str(who)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == -9, child.stderr
    assert "counted" in child.stdout
    assert (w.stored(who), w.calls(who)) == ([], [])
    assert w.rows("SELECT 1 FROM judgment.servings WHERE user_id = %(who)s", who=who) == []
    assert w.make(who)[0] == 201


def test_little_time_left_is_a_fallback_and_leaves_the_event_to_the_sweep(w: Workshop):
    class Ending:
        def get_remaining_time_in_millis(self) -> int:
            return 2_000

    w.lambda_ = Ending()
    who = w.person()
    status, body = w.make(who)
    assert (status, body["personalized"]) == (201, False)
    assert w.scripted.asked == []
    assert w.bus.taken == []
    assert w.rows("SELECT 1 FROM judgment.outbox WHERE user_id = %(who)s", who=who)


@pytest.mark.promise("R-32")
def test_without_counters_nothing_is_spent(w: Workshop):
    w.counters.down = True
    status, body = w.make(w.person())
    assert (status, body["code"]) == (503, "unavailable")
    assert w.scripted.asked == []
