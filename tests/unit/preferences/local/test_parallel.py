"""Captures from several processes at once: all are kept, and none twice."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.unit.preferences.local.stores import opened, statement

pytestmark = pytest.mark.promise("P3-cli-files")
CHILD = "tests.unit.preferences.local.capturing_child"


def captured(root: Path, children: list[tuple[str, int, int]]) -> list[int]:
    """Runs children, begun together; how many new signals each kept."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", CHILD, str(root), name, str(shared), str(own)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, shared, own in children
    ]
    for child in started:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in started:
        assert child.stdin is not None
        child.stdin.write("begin\n")
        child.stdin.flush()
    said = [child.communicate(timeout=120)[0] for child in started]
    assert [child.returncode for child in started] == [0] * len(started)
    return [int(text) for text in said]


@pytest.mark.promise("P3-measure")
def test_fifty_captures_on_one_key_and_fifty_on_others_from_two_processes_are_all_kept(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path)
    assert captured(store.root, [("one", 25, 25), ("two", 25, 25)]) == [50, 50]
    signals, bad = store.signals()
    assert bad == []
    assert [s.position for s in signals] == list(range(1, 101))
    assert len({s.id for s in signals}) == 100
    assert sum(s.key == "the.one.key" for s in signals) == 50
    assert len({s.key for s in signals}) == 51
    store.compile()
    document = store.document()
    assert document is not None
    assert len(document["keys"]) == 51
    assert document["keys"]["the.one.key"]["n_signals"] == 50


@pytest.mark.promise("P3-defect-22")
def test_two_processes_that_capture_the_same_keep_it_once(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert sum(captured(store.root, [("same", 10, 10), ("same", 10, 10)])) == 20
    signals, bad = store.signals()
    assert bad == []
    assert [s.position for s in signals] == list(range(1, 21))


def test_forgetting_while_others_capture_and_compile_takes_its_key_and_nothing_else(
    tmp_path: Path,
) -> None:
    """Each hand has a store of its own, as each process has."""

    def speak(name: str) -> None:
        store = opened(tmp_path)
        for number in range(20):
            store.append([statement(f"kept.{name}", number), statement("gone", f"SECRET {number}")])

    def compile_again() -> None:
        store = opened(tmp_path)
        for _ in range(15):
            store.compile()
            store.document()

    def forget() -> None:
        store = opened(tmp_path)
        for _ in range(10):
            store.forget("gone")

    with ThreadPoolExecutor(5) as pool:
        hands = [pool.submit(speak, name) for name in ("one", "two", "three")]
        hands += [pool.submit(compile_again), pool.submit(forget)]
        for hand in hands:
            hand.result(120)
    store = opened(tmp_path)
    store.forget("gone")
    signals, bad = store.signals()
    assert (len(signals), bad) == (60, [])
    assert len({signal.position for signal in signals}) == 60
    document = store.document()
    assert document is not None
    assert {key: entry["n_signals"] for key, entry in document["keys"].items()} == {
        f"kept.{name}": 20 for name in ("one", "two", "three")
    }
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert [path for path in files if b"SECRET" in path.read_bytes()] == []
