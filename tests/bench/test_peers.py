"""The runner of peers, with peers made for the purpose; no real one is installed by a test."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.local.ports import free_port
from tests.bench.peers import environments
from tests.bench.peers.environments import LOCKS, PythonEnvironment
from tests.bench.peers.memories import memories
from tests.bench.peers.peer import Document, PeerUnavailable, Read, opened
from tests.bench.peers.processes import child, wait_for_port

DOCUMENT = Document("Judgment profile", ("prefers short contracts", "weighs price first"))


class Kept:
    """A peer that answers with what it kept."""

    how = "in memory"

    def __init__(self, name: str, keeps: int = 2, failure: str = ""):
        self.name, self.keeps, self.failure = name, keeps, failure
        self.closed = False

    @contextmanager
    def open(self, document: Document) -> Iterator[Read]:
        """Answer with the first `keeps` statements, or fail."""
        if self.failure:
            raise PeerUnavailable(self.failure)
        try:
            yield lambda: "\n".join(document.statements[: self.keeps])
        finally:
            self.closed = True


@pytest.mark.promise("P1-accept-7")
def test_a_peer_that_cannot_be_installed_is_named_with_its_error() -> None:
    good, broken = Kept("good"), Kept("broken", failure="no such package")
    with opened([broken, good], DOCUMENT) as found:
        assert set(found.reads) == {"good"}
        assert found.refused == {"broken": "no such package"}
    assert good.closed


def test_a_peer_that_answers_with_less_is_not_timed() -> None:
    with opened([Kept("forgetful", keeps=1)], DOCUMENT) as found:
        assert found.reads == {}
        assert "1 statements missing" in found.refused["forgetful"]


def test_a_document_holds_every_text_of_a_profile() -> None:
    profile = {
        "signals": [
            {"signal": "price", "state": "rich", "description": "About.", "one_line": "Low first."}
        ],
        "category_tendencies": [],
        "context_rules": [{"trigger": "late", "behavior_shift": "hurries", "confidence": 0.5}],
        "summary_text": "A summary.\n\nOf two lines.",
        "agent_context_block": None,
    }
    served = json.dumps(profile).encode()
    document = Document.of_profile(served)
    assert document.statements[:4] == (
        "price, rich: About. Low first.",
        "When late: hurries",
        "A summary.",
        "Of two lines.",
    )
    assert document.size == pytest.approx(len(served), abs=len(document.statements))


def test_every_peer_is_installed_from_a_list_with_hashes() -> None:
    for peer in memories():
        name = peer.environment.name  # type: ignore[attr-defined]
        if isinstance(peer.environment, PythonEnvironment):  # type: ignore[attr-defined]
            text = (LOCKS / f"{name}.lock").read_text()
            assert "--hash=sha256:" in text
            assert "://" not in text
        else:
            lock = json.loads((LOCKS / name / "package-lock.json").read_text())
            modules = [one for path, one in lock["packages"].items() if path]
            assert modules
            assert all("integrity" in one and "resolved" not in one for one in modules)


def test_a_failing_install_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nothing.lock").write_text("no-such-package-of-ours==1 --hash=sha256:00\n")
    monkeypatch.setattr(environments, "find_uv", lambda: str(Path(sys.executable)))
    with pytest.raises(PeerUnavailable, match="python"):
        PythonEnvironment("nothing", locks=tmp_path, home=tmp_path / "peers").install()
    assert not (tmp_path / "peers" / "nothing" / environments.STAMP).exists()


def test_no_python_new_enough_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "_neighbours", lambda minimum: iter(()))
    with pytest.raises(PeerUnavailable, match=r"3\.99"):
        environments.interpreter((3, 99))


def test_a_server_that_ends_at_once_is_reported_with_its_last_words(tmp_path: Path) -> None:
    program = "import sys; sys.exit('cannot bind')"
    with (
        child([sys.executable, "-c", program], tmp_path, {}) as process,
        pytest.raises(PeerUnavailable, match="cannot bind"),
    ):
        wait_for_port(process, free_port(), tmp_path / "log")


def test_a_server_is_ended_when_its_block_is_left(tmp_path: Path) -> None:
    program = "import sys; sys.stdin.read()"
    with child([sys.executable, "-c", program], tmp_path, {}, pipes=True) as process:
        assert process.poll() is None
    assert process.returncode is not None
