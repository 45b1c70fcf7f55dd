"""What an owner does with their personal context, against a real database."""

from __future__ import annotations

import base64
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors as pg

from judgment.contract.personal import PERSONAL_CONTEXT_LIMIT
from tests.fakes.diary import CONTEXT, Diary
from tests.fakes.people import make_owner, run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

DISMISS = "/api/v1/onboarding/lightbox/dismiss"
NOBODY = uuid.UUID(int=1)

pytestmark = pytest.mark.promise("P2-6", "000-7")


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Diary]:
    harness = Diary(module_database)
    yield harness
    harness.postgres.close()


@pytest.fixture
def who(h: Diary) -> uuid.UUID:
    return make_owner(h.database)


def test_before_the_first_word_it_is_empty_and_was_never_written(h: Diary, who: uuid.UUID):
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
def test_any_text_comes_back_as_it_was_written(h: Diary, who: uuid.UUID, text: str):
    status, written = h.write(who, text)
    assert (status, written["personal_context"]) == (200, text)
    assert written["bytes"] == len(text.encode())
    assert h.read(who) == written


def test_saving_the_same_text_again_changes_nothing(h: Diary, who: uuid.UUID):
    first = h.write(who, "one")[1]
    assert h.write(who, "one")[1] == first
    second = h.write(who, "two")[1]
    assert second["updated_at"] > first["updated_at"]


@pytest.mark.promise("P2-6")
@pytest.mark.parametrize("character", ["x", "é", "漢", "👩"])
def test_the_cap_counts_bytes_and_the_last_one_fits(h: Diary, who: uuid.UUID, character: str):
    size = len(character.encode())
    fits = character * (PERSONAL_CONTEXT_LIMIT // size) + "x" * (PERSONAL_CONTEXT_LIMIT % size)
    assert h.write(who, fits)[1]["bytes"] == PERSONAL_CONTEXT_LIMIT
    status, body = h.write(who, fits + "x")
    assert (status, body["code"]) == (413, "too_large")
    assert h.read(who)["personal_context"] == fits


def test_a_body_over_the_doors_limit_is_413(h: Diary, who: uuid.UUID):
    assert h.write(who, "x" * 256 * 1024)[0] == 413
    raw = base64.b64encode(b'{"personal_context": "%s"}' % (b"x" * 256 * 1024)).decode()
    assert h.call("PUT", CONTEXT, who, body=raw, base64=True)[0] == 413


def test_no_writer_is_above_the_cap_not_even_by_sql(h: Diary, who: uuid.UUID):
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
    h: Diary, who: uuid.UUID, body: str
):
    before = h.write(who, "kept")[1]
    status, answer = h.call("PUT", CONTEXT, who, body=body)
    assert (status, answer["code"]) == (400, "invalid_request")
    assert h.read(who) == before


def test_bytes_that_are_not_utf_8_are_400(h: Diary, who: uuid.UUID):
    raw = base64.b64encode(b'{"personal_context": "\xff\xfe"}').decode()
    assert h.call("PUT", CONTEXT, who, body=raw, base64=True)[0] == 400


def test_writers_at_once_follow_one_another_and_each_is_told_what_it_wrote(
    h: Diary, who: uuid.UUID
):
    def one(number: int) -> tuple[str, Any]:
        mine = Diary(h.database)
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


def analysed(h: Diary, who: uuid.UUID, games: int, score_owner: str | None) -> None:
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
    h: Diary, who: uuid.UUID, games: int, score_owner: str | None, completed: bool
):
    analysed(h, who, games, score_owner)
    shown = h.read(who)
    assert shown["onboarding_completed"] is completed
    assert shown["lightbox"] == ("show" if completed else "not_yet")


@pytest.mark.promise("000-7-lightbox")
def test_a_dismissed_prompt_never_comes_back(h: Diary, who: uuid.UUID):
    analysed(h, who, 3, "judgment")
    dismissed = "SELECT onboarding_lightbox_dismissed_at FROM public.profiles WHERE id = %(w)s"
    assert h.call("POST", DISMISS, who) == (204, None)
    first = h.rows(dismissed, w=who)
    assert h.call("POST", DISMISS, who) == (204, None)
    assert h.rows(dismissed, w=who) == first != [(None,)]
    assert h.read(who)["lightbox"] == "dismissed"


@pytest.mark.promise("000-7-lightbox")
def test_who_writes_needs_no_prompt_any_more_also_after_emptying(h: Diary, who: uuid.UUID):
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
def test_an_owner_who_was_erased_is_404(h: Diary, method: str, path: str, body: str | None):
    status, answer = h.call(method, path, NOBODY, body=body)
    assert (status, answer["code"]) == (404, "not_found")


def test_the_log_of_a_write_holds_none_of_it(
    h: Diary, who: uuid.UUID, capsys: pytest.CaptureFixture[str]
):
    h.write(who, "canary-7f3a of mine")
    h.write(who, "canary-7f3a \x00 of mine")
    assert "canary-7f3a" not in capsys.readouterr().out
