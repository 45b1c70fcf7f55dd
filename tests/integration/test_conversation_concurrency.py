"""Many hands on one owner's conversations, pages and files: no gaps, no doubles, nothing lost."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.conversation import pages, store
from judgment.kit.clock import utc_now
from judgment.memory import files
from judgment.memory.model import Change, MemoryFailure
from judgment.memory.starter import PAGES
from tests.fakes.owner_desk import T0, Desk
from tests.fakes.rounds import rows
from tests.integration.conversation_child import children

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-conversations", "P4-memory-owner")

HANDS = 4
SPEC = "documents/finance/spec.md"


@pytest.fixture
def desks(module_database: TestDatabase) -> Iterator[list[Desk]]:
    """A door per hand, each with a connection of its own."""
    made = [Desk(module_database) for _ in range(HANDS)]
    yield made
    for desk in made:
        desk.close()


@pytest.fixture
def who(desks: list[Desk]) -> uuid.UUID:
    return desks[0].somebody()


def together(*deeds: Callable[[], object]) -> None:
    """All at once, to the end; raises what one of them raised."""
    barrier = threading.Barrier(len(deeds))
    failures: list[BaseException] = []

    def run(deed: Callable[[], object]) -> None:
        barrier.wait(30)
        try:
            deed()
        except BaseException as error:  # noqa: BLE001  (raised again below)
            failures.append(error)

    threads = [threading.Thread(target=run, args=(deed,)) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]


def found(desk: Desk, sql: str, who: uuid.UUID) -> list[Any]:
    return [row[0] for row in rows(desk.database, sql, who)]


def write_as_tool(desk: Desk, who: uuid.UUID, text: str, expected: str | None) -> bool:
    """A turn's write over the file as it saw it; whether it held."""
    try:
        with desk.postgres.transaction(who) as tx:
            files.commit(
                tx,
                who,
                [Change(SPEC, text.encode())],
                origin="tool",
                author="Judgment <judgment@judgment.invalid>",
                message=f"Write {SPEC}",
                at=utc_now(),
                expected={SPEC: expected},
            )
    except MemoryFailure as failure:
        if failure.code == "conflict":
            return False
        raise
    return True


def digest(desk: Desk, who: uuid.UUID) -> str | None:
    with desk.postgres.transaction(who) as tx:
        return files.digest(tx, who, SPEC)


def test_two_processes_say_something_in_one_conversation_without_a_gap(
    desks: list[Desk], who: uuid.UUID
):
    desk, talk = desks[0], desks[0].talk(who)
    order = ["append", desk.database.url("judgment_process"), str(who), talk, "50"]
    with children(order, order) as said:
        assert said == [[], []]
    places = "SELECT position FROM judgment.conversation_messages WHERE user_id = %s ORDER BY 1"
    assert found(desk, places, who) == list(range(1, 101))
    (listed,) = desk.get(who, "/conversations")["conversations"]
    assert listed["message_count"] == 100


@pytest.mark.promise("P4-starter")
def test_a_memory_is_laid_down_once_whoever_asks_first(desks: list[Desk]):
    for who in [desks[0].somebody() for _ in range(5)]:
        together(*(lambda d=d, who=who: d.get(who, "/projects") for d in desks))
        listed = desks[0].get(who, "/projects")["projects"]
        assert [page["id"] for page in listed] == [page.id for page in PAGES]
        assert [origin for origin, _, _ in desks[0].commits(who)] == ["starter"]


def test_pages_of_one_name_from_all_hands_are_all_there(desks: list[Desk], who: uuid.UUID):
    answers: list[tuple[int, Any]] = []

    def add(desk: Desk) -> None:
        answers.extend(desk.call(who, "POST", "/projects", {"name": "Garden"}) for _ in range(4))

    together(*(lambda d=d: add(d) for d in desks))
    assert [status for status, _ in answers] == [201] * 16
    ids = {page["id"] for _, page in answers}
    assert ids == {"garden", *(f"garden-{n}" for n in range(2, 17))}
    places = "SELECT position FROM judgment.projects WHERE user_id = %s ORDER BY 1"
    assert found(desks[0], places, who) == list(range(1, len(PAGES) + 17))


def test_the_last_page_is_one_page(desks: list[Desk], who: uuid.UUID):
    for number in range(60 - len(PAGES) - 1):
        assert desks[0].call(who, "POST", "/projects", {"name": f"Page {number}"})[0] == 201
    statuses: list[int] = []
    together(
        *(
            lambda d=d: statuses.append(d.call(who, "POST", "/projects", {"name": "Last"})[0])
            for d in desks
        )
    )
    assert sorted(statuses) == [201, *[409] * (HANDS - 1)]
    assert len(desks[0].get(who, "/projects")["projects"]) == 60


def test_a_page_that_is_deleted_leaves_no_file_behind_whoever_writes_meanwhile(
    desks: list[Desk], who: uuid.UUID
):
    for number in range(8):
        status, page = desks[0].call(who, "POST", "/projects", {"name": f"Page {number}"})
        assert status == 201
        statuses: list[int] = []

        def write(desk: Desk, page_id: str = page["id"], kept: list[int] = statuses) -> None:
            path = f"documents/{page_id}/note.md"
            for text in ("a", "b", "c"):
                url = f"/projects/{page_id}/file-content"
                answer = desk.call(who, "PUT", url, {"content": text}, query={"path": path})
                kept.append(answer[0])

        together(
            lambda p=page: desks[0].call(who, "DELETE", f"/projects/{p['id']}"),
            *(lambda d=d, w=write: w(d) for d in desks[1:]),
        )
        assert set(statuses) <= {200, 404}
        with desks[0].postgres.transaction(who) as tx:
            assert files.entries(tx, who, f"documents/{page['id']}") == []


def test_an_owners_edit_wins_while_models_write(desks: list[Desk], who: uuid.UUID):
    owner, *tools = desks
    owner.edit(who, SPEC, "0")
    held: list[str] = []

    def model(desk: Desk) -> Callable[[], object]:
        def work() -> None:
            for _ in range(15):
                seen, text = digest(desk, who), str(uuid.uuid4())
                if write_as_tool(desk, who, text, seen):
                    held.append(text)

        return work

    def edit() -> None:
        for number in range(15):
            owner.edit(who, SPEC, f"owner {number}")

    together(edit, *map(model, tools))
    versions = [content.decode() for content in owner.history(who, SPEC) if content is not None]
    assert [one for one in versions if one.startswith("owner")] == [f"owner {n}" for n in range(15)]
    assert sorted(one for one in versions if len(one) == 36) == sorted(held)
    assert owner.get(who, "/projects/finance/file-content", path=SPEC)["content"] == versions[-1]


def test_a_model_that_saw_the_file_before_the_owners_edit_is_told(
    desks: list[Desk], who: uuid.UUID
):
    owner, tool = desks[:2]
    owner.edit(who, SPEC, "Seen.")
    seen = digest(tool, who)
    owner.edit(who, SPEC, "The owner's.")
    assert not write_as_tool(tool, who, "The model's.", seen)
    assert owner.history(who, SPEC)[-1] == b"The owner's."


def test_turns_pages_and_edits_at_once_wait_in_no_ring(desks: list[Desk], who: uuid.UUID):
    """A turn holds a conversation and then a page, a page its files, a tool files and then the
    conversation: nobody is thrown out of the ring, because there is none."""
    talk = desks[0].talk(who, ("user", "Hello"))
    desks[0].get(who, "/projects")

    def turn(desk: Desk) -> None:
        for n in range(20):
            with desk.postgres.transaction(who) as tx:
                pages.ensure(tx, who, T0)
                store.append(
                    tx, who, talk, id=str(n), turn_id=uuid.uuid4(), role="user", content="x", at=T0
                )
                store.attach(tx, who, "finance", talk)
                store.attach(tx, who, "your-agent", talk)

    def tool(desk: Desk) -> None:
        for n in range(20):
            with desk.postgres.transaction(who) as tx:
                change = [Change("documents/finance/t.md", str(n).encode())]
                files.commit(tx, who, change, origin="tool", author="J <j>", message="Write", at=T0)
                store.append(
                    tx, who, talk, id=str(n), turn_id=uuid.uuid4(), role="tool", content="x", at=T0
                )

    def keep_pages(desk: Desk) -> None:
        for n in range(10):
            status, page = desk.call(who, "POST", "/projects", {"name": f"P {n}"})
            assert status == 201
            assert desk.call(who, "DELETE", f"/projects/{page['id']}")[0] == 204

    def edit(desk: Desk) -> None:
        for n in range(20):
            desk.edit(who, "documents/finance/t.md", f"owner {n}")
            assert desk.call(who, "PATCH", "/projects/finance", {"icon": f"i{n}"})[0] == 200
            assert desk.call(who, "DELETE", "/projects/finance/conversation")[0] == 200

    deeds = (turn, tool, keep_pages, edit)
    together(*(lambda d=d, desk=desk: d(desk) for d, desk in zip(deeds, desks, strict=True)))
    assert desks[0].get(who, f"/conversations/{talk}")["messages"][-1] is not None
    assert desks[0].get(who, "/conversations")["conversations"][0]["message_count"] == 41
