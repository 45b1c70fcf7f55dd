"""A memory root through the command line into a real memory, and out again byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.cli.commands import cli
from judgment.conversation.arriving.loading import load, says_the_same
from judgment.conversation.views import ConversationViews
from judgment.db.connection import Database
from judgment.kit.clock import utc_now
from judgment.memory import files
from judgment.memory.model import Change
from judgment.memory.starter import recognised, seed
from judgment.memory.transfer.exports import Exports
from judgment.memory.transfer.imports import Imports
from tests.fakes.memory_api import TOKEN, MemoryServer, Real
from tests.fakes.memory_roots import braindrive_root, git, log, tree, write
from tests.fakes.people import make_owner
from tests.fakes.transfers import Seen, memory, pages, send

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-memory-import", "R-33", "002-29")

CONVERSATION = """---
id: "8f6e"
title: "Überblick \\"x\\""
created_at: "2026-01-31T12:34:56.789Z"
updated_at: "2026-01-31T12:35:56.789Z"
message_count: 2
active_skill_ids: []
---

## message m1
```json
{"id":"m1","role":"user","timestamp":"2026-01-31T12:34:56.789Z","content":"```\\nhi"}
```

## message m2
```json
{"id":"m2","role":"assistant","timestamp":"2026-01-31T12:35:56.789Z","content":"  hello  "}
```
"""
MANIFEST = (
    '[{"id":"your-agent","name":"Your Agent","icon":"sparkles","conversation_id":null,'
    '"default_skill_ids":[]},{"id":"garden","name":"Garden","icon":"leaf",'
    '"conversation_id":"8f6e","default_skill_ids":["one"]}]'
)
INDEX = (
    '{"conversations":[{"id":"8f6e","title":"Überblick \\"x\\"","created_at":'
    '"2026-01-31T12:34:56.789Z","updated_at":"2026-01-31T12:35:56.789Z","message_count":2}]}'
)


class Place:
    """An owner's memory, and the command line that reaches it."""

    def __init__(self, database: TestDatabase):
        self.who = make_owner(database)
        self.postgres = Database(database.url("judgment_process"))
        begin = self.postgres.transaction
        self.imports = Imports(begin, recognised, load, utc_now)
        self.exports = Exports(begin, [ConversationViews()], says_the_same)

    def run(self, *words: str, code: int = 0) -> str:
        """Run `judgment memory` as this owner."""
        with MemoryServer(Real(self.imports, self.exports, self.who)) as server:
            environment = {
                "SYNC_API_URL": server.url,
                "SYNC_OWNER_TOKEN": TOKEN,
                "JUDGMENT_STACK": None,
            }
            found = CliRunner().invoke(cli, ["memory", *words], env=environment)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        assert found.exit_code == code, (found.stdout, found.stderr)
        return found.stdout + found.stderr


@pytest.fixture
def place(module_database: TestDatabase) -> Iterator[Place]:
    made = Place(module_database)
    yield made
    made.postgres.close()


def _root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    braindrive_root(root)
    write(
        root,
        {
            "conversations/8f6e.md": CONVERSATION.encode(),
            "conversations/index.json": INDEX.encode(),
            "conversations/damaged.md": b"---\nid: 1\n",
            "conversations/summaries/8f6e/1.md": b"a summary",
            "documents/projects.json": MANIFEST.encode(),
        },
    )
    return root


def test_a_braindrive_root_comes_back_byte_for_byte(place: Place, tmp_path: Path) -> None:
    root, back = _root(tmp_path), tmp_path / "back"
    assert '"conversations": 1' in place.run("import", str(root))
    place.run("export", str(back))
    assert tree(back) == tree(root)
    assert git(back, "status", "--porcelain") == b""
    assert log(back)[: len(log(root))] == log(root)
    with place.postgres.transaction(place.who) as tx:
        versions = files.history(tx, place.who, "documents/a/b")
    assert [one.commit.author for one in versions] == ["A <a@b.c>"]


def test_a_root_comes_into_a_seeded_memory_and_what_else_is_there_stays(
    place: Place, tmp_path: Path
) -> None:
    with place.postgres.transaction(place.who) as tx:
        seed(tx, place.who, utc_now())
        before = {one.path for one in files.entries(tx, place.who)}
    root, back = _root(tmp_path), tmp_path / "back"
    place.run("import", str(root))
    place.run("export", str(back))
    mine, theirs = tree(root), tree(back)
    assert {path: theirs[path] for path in mine} == mine
    assert before - mine.keys() == theirs.keys() - mine.keys()


def test_what_is_written_afterwards_is_in_the_next_export_and_its_log(
    place: Place, tmp_path: Path
) -> None:
    place.run("import", str(_root(tmp_path)))
    with place.postgres.transaction(place.who) as tx:
        files.commit(
            tx,
            place.who,
            [Change("me/todo.md", b"- [ ] rest\n"), Change("AGENT.md", None)],
            origin="tool",
            author="Judgment <judgment@judgment.invalid>",
            message="Write me/todo.md",
            at=utc_now(),
        )
    back = tmp_path / "back"
    place.run("export", str(back))
    assert (back / "me/todo.md").read_bytes() == b"- [ ] rest\n"
    assert not (back / "AGENT.md").exists()
    assert log(back)[-1][2] == "Write me/todo.md"
    assert git(back, "show", "--stat", "--format=%s", "HEAD").startswith(b"Write me/todo.md")


def test_an_export_of_ours_is_an_import_of_ours(
    place: Place, module_database: TestDatabase, tmp_path: Path
) -> None:
    place.run("import", str(_root(tmp_path)))
    place.run("export", str(tmp_path / "one"))
    other = Place(module_database)
    other.run("import", str(tmp_path / "one"))
    other.run("export", str(tmp_path / "two"))
    other.postgres.close()
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    heads = [git(tmp_path / name, "rev-parse", "HEAD") for name in ("one", "two")]
    assert heads[0] == heads[1]


def test_a_memory_without_anything_is_an_empty_export(place: Place, tmp_path: Path) -> None:
    place.run("export", str(tmp_path / "back"))
    assert set(tree(tmp_path / "back")) == {"conversations/index.json", "documents/projects.json"}


PATHS = st.sampled_from(["a", "b", "c", "d/e", "d/f", "diagnostics/x"])
CONTENTS = st.sampled_from([b"", b"1", b"2", b"3\r\n", b"\xff\0"])
CHANGES = st.dictionaries(PATHS, st.none() | CONTENTS, max_size=3)
STATES = st.dictionaries(PATHS, CONTENTS, max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("import"), st.lists(CHANGES, max_size=4), STATES),
        st.tuples(st.just("write"), CHANGES, st.none()),
    ),
    min_size=1,
    max_size=4,
)


@given(steps=STEPS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_comes_in_whatever_order_the_history_leads_to_the_files(
    place: Place, module_database: TestDatabase, steps: Any
) -> None:
    """And every commit that was ever told is told again, in its order and as it was."""
    who = make_owner(module_database)
    expected: dict[str, bytes] = {}
    told: list[dict[str, bytes | None]] = []
    for number, (kind, first, second) in enumerate(steps):
        if kind == "write":
            changes = {p: c for p, c in first.items() if expected.get(p) != c}
            with place.postgres.transaction(who) as tx:
                wanted = [Change(path, content) for path, content in changes.items()]
                files.commit(tx, who, wanted, origin="owner", author="O", message="w", at=utc_now())
            told += [changes] if changes else []
            expected = _after(expected, changes)
        else:
            named = [(f"{who}{number}.{place}", one) for place, one in enumerate(first)]
            send(place.imports, who, memory(second, *named), conflicts="replace")
            told += first
            expected |= second
    seen = Seen(pages(place.exports, who))
    made = ("conversations/index.json", "documents/projects.json")
    assert {p: c for p, c in seen.files.items() if p not in made} == expected
    followed: dict[str, bytes] = {}
    for _, changes in seen.history:
        followed = _after(followed, changes)
    assert followed == expected
    history = [changes for message, changes in seen.history if message != "Import of memory root"]
    assert history == told


def _after(state: dict[str, bytes], changes: Any) -> dict[str, bytes]:
    merged = {**state, **changes}
    return {path: content for path, content in merged.items() if content is not None}
