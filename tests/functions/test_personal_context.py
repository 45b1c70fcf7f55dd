"""What an owner does with their personal context, against a real database."""

from __future__ import annotations

import base64
import json
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors as pg

from functions.personal_context.handler import build
from judgment.contract.personal import PERSONAL_CONTEXT_LIMIT
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.hashing import sha256_hex
from judgment.scenarios.personal.context import PersonalContexts
from tests.fakes.events import http_event, owner
from tests.fakes.people import decide, make_owner, run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

CONTEXT = "/api/v1/personal-context"
DISMISS = "/api/v1/onboarding/lightbox/dismiss"
NOBODY = uuid.UUID(int=1)

pytestmark = pytest.mark.promise("P2-6", "000-7")


class Harness:
    """The door over a real database."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.postgres = Database(database.url("judgment_owner"))
        contexts = PersonalContexts(self.postgres.transaction)
        self.door = build(contexts, Telemetry("personal_context"))

    def call(self, method: str, path: str, who: uuid.UUID, **event: Any) -> tuple[int, Any]:
        reply = self.door(http_event(method, path, principal=owner(who), **event), None)
        return reply["statusCode"], json.loads(reply["body"] or "null")

    def read(self, who: uuid.UUID) -> Any:
        status, body = self.call("GET", CONTEXT, who)
        assert status == 200, body
        return body

    def write(self, who: uuid.UUID, text: str) -> tuple[int, Any]:
        return self.call("PUT", CONTEXT, who, body=json.dumps({"personal_context": text}))

    def rows(self, query: str, **params: object) -> list[tuple[Any, ...]]:
        """What the superuser sees."""
        with psycopg.connect(self.database.admin_url) as admin:
            return admin.execute(query.encode(), params).fetchall()


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.postgres.close()


@pytest.fixture
def who(h: Harness) -> uuid.UUID:
    return make_owner(h.database)


def personal_round(h: Harness, who: uuid.UUID) -> uuid.UUID:
    """A stored personal round, shown to its owner."""
    scenario = uuid.uuid4()
    for statement in (
        "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)"
        " VALUES (%s, 'personal', 'governance', %s)",
        "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title, options)"
        " VALUES (%s, %s, 'The bakery on the corner', '[]')",
        "INSERT INTO judgment.servings (id, scenario_id, user_id, served_at)"
        " VALUES (gen_random_uuid(), %s, %s, now())",
    ):
        run_as_admin(h.database, statement, scenario, who)
    return scenario


def snapshot(h: Harness, who: uuid.UUID, text: str, digest: str | None = None) -> uuid.UUID:
    """A snapshot with a prediction on the owner's latest decision."""
    made = uuid.uuid4()
    run_as_admin(
        h.database,
        "INSERT INTO public.evaluation_snapshots (id, choice_id, user_id,"
        " personal_context_snapshot, personal_context_sha256)"
        " SELECT %s, id, user_id, %s, %s FROM public.choices WHERE user_id = %s LIMIT 1",
        made,
        text,
        digest,
        who,
    )
    run_as_admin(
        h.database,
        "INSERT INTO public.evaluation_predictions (id, snapshot_id, condition, eval_model,"
        " eval_model_version) VALUES (gen_random_uuid(), %s, 'A', 'm', '1')",
        made,
    )
    return made


def test_before_the_first_word_it_is_empty_and_was_never_written(h: Harness, who: uuid.UUID):
    assert h.read(who) == {
        "personal_context": "",
        "updated_at": None,
        "bytes": 0,
        "limit_bytes": PERSONAL_CONTEXT_LIMIT,
        "onboarding_completed": False,
        "lightbox": "not_yet",
    }
    assert h.write(who, "")[1]["updated_at"] is None


@pytest.mark.parametrize(
    "text",
    [
        "I run a bakery with nine people.",
        " \n\t ",
        "<script>alert('x')</script> '; DROP TABLE public.profiles; --",
        "naïve 漢字 العربية 👩‍👩‍👧 \u202e \u2028 \u200b \ufffe \x01\x1f\x7f",
        '{"personal_context": "nested"}',
        "\U0010ffff" * 100,
    ],
)
def test_any_text_comes_back_as_it_was_written(h: Harness, who: uuid.UUID, text: str):
    status, written = h.write(who, text)
    assert (status, written["personal_context"]) == (200, text)
    assert written["bytes"] == len(text.encode())
    assert h.read(who) == written


def test_saving_the_same_text_again_changes_nothing(h: Harness, who: uuid.UUID):
    first = h.write(who, "one")[1]
    assert h.write(who, "one")[1] == first
    second = h.write(who, "two")[1]
    assert second["updated_at"] > first["updated_at"]


@pytest.mark.promise("P2-6")
@pytest.mark.parametrize("character", ["x", "é", "漢", "👩"])
def test_the_cap_counts_bytes_and_the_last_one_fits(h: Harness, who: uuid.UUID, character: str):
    size = len(character.encode())
    fits = character * (PERSONAL_CONTEXT_LIMIT // size) + "x" * (PERSONAL_CONTEXT_LIMIT % size)
    assert h.write(who, fits)[1]["bytes"] == PERSONAL_CONTEXT_LIMIT
    status, body = h.write(who, fits + "x")
    assert (status, body["code"]) == (413, "too_large")
    assert h.read(who)["personal_context"] == fits


def test_a_body_over_the_doors_limit_is_413(h: Harness, who: uuid.UUID):
    assert h.write(who, "x" * 256 * 1024)[0] == 413
    raw = base64.b64encode(b'{"personal_context": "%s"}' % (b"x" * 256 * 1024)).decode()
    assert h.call("PUT", CONTEXT, who, body=raw, base64=True)[0] == 413


def test_no_writer_is_above_the_cap_not_even_by_sql(h: Harness, who: uuid.UUID):
    with psycopg.connect(h.database.admin_url) as admin, pytest.raises(pg.CheckViolation):
        admin.execute(
            "UPDATE public.profiles SET personal_context = repeat('é', 32769) WHERE id = %s", (who,)
        )


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "{}",
        "[]",
        '"text"',
        '{"personal_context": null}',
        '{"personal_context": 7}',
        '{"personal_context": ["a"]}',
        '{"personal_context": "a", "updated_at": "2026-11-30T12:00:00Z"}',
        '{"personal_context": "a\\u0000b"}',
        '{"personal_context": "a\\ud83d"}',
        '{"personal_context": "\\udc69b"}',
        '{"personal_context": "a"',
        '{"personal_context": "a\nb"}',
    ],
)
def test_what_is_no_text_or_cannot_be_stored_is_400_and_changes_nothing(
    h: Harness, who: uuid.UUID, body: str
):
    before = h.write(who, "kept")[1]
    status, answer = h.call("PUT", CONTEXT, who, body=body)
    assert (status, answer["code"]) == (400, "invalid_request")
    assert h.read(who) == before


def test_bytes_that_are_not_utf_8_are_400(h: Harness, who: uuid.UUID):
    raw = base64.b64encode(b'{"personal_context": "\xff\xfe"}').decode()
    assert h.call("PUT", CONTEXT, who, body=raw, base64=True)[0] == 400


@pytest.mark.promise("000-7-delete", "R-4")
def test_emptying_takes_every_copy_and_leaves_digests_and_predictions(h: Harness, who: uuid.UUID):
    decide(h.database, who, 1)
    h.write(who, "The bakery, and Ruth")
    bare = snapshot(h, who, "The bakery, and Ruth")
    marked = snapshot(h, who, "An earlier text", "0" * 64)
    status, emptied = h.write(who, "")
    assert (status, emptied["personal_context"], emptied["bytes"]) == (200, "", 0)
    kept = h.rows(
        "SELECT id, personal_context_snapshot, personal_context_sha256"
        " FROM public.evaluation_snapshots WHERE user_id = %(who)s",
        who=who,
    )
    assert set(kept) == {
        (bare, None, sha256_hex("The bakery, and Ruth")),
        (marked, None, "0" * 64),
    }
    predictions = h.rows(
        "SELECT 1 FROM public.evaluation_predictions WHERE snapshot_id = ANY (%(ids)s)",
        ids=[bare, marked],
    )
    assert len(predictions) == 2


@pytest.mark.promise("000-7-delete", "R-4")
def test_emptying_removes_unanswered_rounds_and_keeps_answered_ones(h: Harness, who: uuid.UUID):
    h.write(who, "The bakery")
    waiting, answered = personal_round(h, who), personal_round(h, who)
    decide(h.database, who, 1)
    run_as_admin(
        h.database,
        "UPDATE judgment.decisions SET scenario_id = %s WHERE user_id = %s",
        answered,
        who,
    )
    h.write(who, "")
    for table, column in (
        ("public.scenarios", "id"),
        ("judgment.scenario_contents", "scenario_id"),
        ("judgment.servings", "scenario_id"),
    ):
        left = h.rows(
            f"SELECT {column} FROM {table} WHERE {column} = ANY (%(ids)s)",
            ids=[waiting, answered],
        )
        assert left == [(answered,)], table


def test_writing_another_text_keeps_copies_and_rounds(h: Harness, who: uuid.UUID):
    decide(h.database, who, 1)
    h.write(who, "One")
    copied, waiting = snapshot(h, who, "One"), personal_round(h, who)
    h.write(who, "Two")
    assert h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE id = %(i)s",
        i=copied,
    ) == [("One",)]
    assert h.rows("SELECT 1 FROM public.scenarios WHERE id = %(i)s", i=waiting)


@pytest.mark.promise("000-7-delete")
def test_emptying_again_takes_what_was_left_by_another_writer(h: Harness, who: uuid.UUID):
    decide(h.database, who, 1)
    late = snapshot(h, who, "Left behind")
    assert h.write(who, "")[0] == 200
    assert h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE id = %(i)s", i=late
    ) == [(None,)]


def test_emptying_touches_nobody_else(h: Harness, who: uuid.UUID):
    other = make_owner(h.database)
    decide(h.database, other, 1)
    h.write(other, "Theirs")
    copied, waiting = snapshot(h, other, "Theirs"), personal_round(h, other)
    h.write(who, "mine")
    h.write(who, "")
    assert h.read(other)["personal_context"] == "Theirs"
    assert h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE id = %(i)s",
        i=copied,
    ) == [("Theirs",)]
    assert h.rows("SELECT 1 FROM public.scenarios WHERE id = %(i)s", i=waiting)
    assert h.read(who)["personal_context"] == ""


def test_writers_at_once_follow_one_another_and_each_is_told_what_it_wrote(
    h: Harness, who: uuid.UUID
):
    def one(number: int) -> tuple[str, Any]:
        mine = Harness(h.database)
        start.wait()
        text = "" if number % 4 == 0 else f"text {number}"
        answer = mine.write(who, text)[1]
        mine.postgres.close()
        return text, answer

    start = threading.Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(8)))
    assert all(answer["personal_context"] == text for text, answer in answers)
    last = h.read(who)
    assert last["personal_context"] in {text for text, _ in answers}
    newest = max((a["updated_at"], a["personal_context"]) for _, a in answers if a["updated_at"])
    assert (last["updated_at"], last["personal_context"]) == newest


@pytest.mark.promise("000-7-delete")
def test_emptying_waits_for_a_round_that_is_being_recorded_and_takes_its_copy(
    h: Harness, who: uuid.UUID
):
    decide(h.database, who, 1)
    h.write(who, "Read before the emptying")
    run_as_admin(
        h.database,
        "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'judgment')",
        who,
    )
    with psycopg.connect(h.database.admin_url) as round_:
        round_.execute("SELECT 1 FROM judgment.profile_state WHERE user_id = %s FOR UPDATE", (who,))
        round_.execute(
            "INSERT INTO public.evaluation_snapshots (choice_id, user_id,"
            " personal_context_snapshot) SELECT c.id, c.user_id, p.personal_context"
            " FROM public.choices c JOIN public.profiles p ON p.id = c.user_id"
            " WHERE c.user_id = %s LIMIT 1",
            (who,),
        )
        with ThreadPoolExecutor(1) as pool:
            emptying = pool.submit(h.write, who, "")
            waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
            while not h.rows(waiting):
                assert not emptying.done(), "it did not wait"
            round_.commit()
            assert emptying.result()[0] == 200
    copies = h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE user_id = %(w)s",
        w=who,
    )
    assert copies == [(None,)]


def analysed(h: Harness, who: uuid.UUID, games: int, score_owner: str | None) -> None:
    run_as_admin(
        h.database,
        "INSERT INTO public.player_decision_profiles (user_id, games_analyzed) VALUES (%s, %s)",
        who,
        games,
    )
    if score_owner:
        run_as_admin(
            h.database,
            "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, %s)",
            who,
            score_owner,
        )


@pytest.mark.promise("000-7-lightbox")
@pytest.mark.parametrize(
    ("games", "score_owner", "completed"),
    [(2, "judgment", False), (3, "judgment", True), (0, "sync", True), (0, None, True)],
)
def test_the_prompt_is_shown_once_the_owner_knows_what_a_round_is(
    h: Harness, who: uuid.UUID, games: int, score_owner: str | None, completed: bool
):
    analysed(h, who, games, score_owner)
    shown = h.read(who)
    assert shown["onboarding_completed"] is completed
    assert shown["lightbox"] == ("show" if completed else "not_yet")


@pytest.mark.promise("000-7-lightbox")
def test_a_dismissed_prompt_never_comes_back(h: Harness, who: uuid.UUID):
    analysed(h, who, 3, "judgment")
    dismissed = "SELECT onboarding_lightbox_dismissed_at FROM public.profiles WHERE id = %(w)s"
    assert h.call("POST", DISMISS, who) == (204, None)
    first = h.rows(dismissed, w=who)
    assert h.call("POST", DISMISS, who) == (204, None)
    assert h.rows(dismissed, w=who) == first != [(None,)]
    assert h.read(who)["lightbox"] == "dismissed"


@pytest.mark.promise("000-7-lightbox")
def test_who_writes_needs_no_prompt_any_more_also_after_emptying(h: Harness, who: uuid.UUID):
    analysed(h, who, 3, "judgment")
    assert h.write(who, "")[1]["lightbox"] == "show"
    assert h.write(who, "Words")[1]["lightbox"] == "dismissed"
    assert h.write(who, "")[1]["lightbox"] == "dismissed"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", CONTEXT, None),
        ("PUT", CONTEXT, '{"personal_context": "x"}'),
        ("PUT", CONTEXT, '{"personal_context": ""}'),
        ("POST", DISMISS, None),
    ],
)
def test_an_owner_who_was_erased_is_404(h: Harness, method: str, path: str, body: str | None):
    status, answer = h.call(method, path, NOBODY, body=body)
    assert (status, answer["code"]) == (404, "not_found")


def test_the_log_of_a_write_holds_none_of_it(
    h: Harness, who: uuid.UUID, capsys: pytest.CaptureFixture[str]
):
    h.write(who, "canary-7f3a of mine")
    h.write(who, "canary-7f3a \x00 of mine")
    assert "canary-7f3a" not in capsys.readouterr().out
