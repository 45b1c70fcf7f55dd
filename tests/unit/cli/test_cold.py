"""What a session start loads and opens: little, and that is held here name by name."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.source import ROOT
from tests.unit.cli.homes import Home, stated

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-cli-cold", "R-40")

LOOKED_AT = """if True:
    import sys, json
    opened = []
    heard = lambda event, args: opened.append(str(args[0])) if event == "open" else None
    sys.addaudithook(heard)
    before = set(sys.modules)
    from judgment.cli import main
    sys.argv[0] = program = sys.argv.pop(1)
    status = getattr(main, {"prefs": "prefs", "judgment": "main"}[program])()
    loaded = sorted(set(sys.modules) - before)
    print(json.dumps({"status": status, "loaded": loaded, "opened": opened}), file=sys.stderr)
"""

OURS = {
    "judgment",
    "judgment.cli",
    "judgment.cli.main",
    "judgment.cli.memory",
    "judgment.cli.memory.table",
    "judgment.cli.output",
    "judgment.cli.preferences",
    "judgment.cli.preferences.reading",
    "judgment.cli.preferences.table",
    "judgment.cli.preferences.wiring",
    "judgment.cli.program",
    "judgment.cli.quick",
    "judgment.cli.running",
    "judgment.cli.table",
    "judgment.kit",
    "judgment.kit.clock",
    "judgment.kit.errors",
    "judgment.kit.files",
    "judgment.kit.killpoints",
    "judgment.kit.settings",
    "judgment.preferences",
    "judgment.preferences.decay",
    "judgment.preferences.documents",
    "judgment.preferences.keys",
    "judgment.preferences.local",
    "judgment.preferences.local.places",
    "judgment.preferences.local.reading",
    "judgment.preferences.model",
    "judgment.preferences.times",
}
OF_INJECT = {
    "judgment.kit.quoting",
    "judgment.preferences.block",
    "judgment.preferences.platforms",
}
SLOW = {"asyncio", "email", "http", "hashlib", "logging", "socket", "ssl", "subprocess"}


def _looked_at(home: Home, program: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", LOOKED_AT, program, *words],
        capture_output=True,
        text=True,
        check=True,
        env=home.environment(),
    )
    assert done.stdout
    found = json.loads(done.stderr.splitlines()[-1])
    assert found["status"] == 0
    return found


def _packages(found: dict[str, Any]) -> set[str]:
    loaded = {name.partition(".")[0] for name in found["loaded"]}
    return loaded - set(sys.stdlib_module_names)


def _ours(found: dict[str, Any]) -> set[str]:
    return {name for name in found["loaded"] if name.partition(".")[0] == "judgment"}


@pytest.fixture
def filled(home: Home) -> Home:
    home.capture("dining.tea", "green")
    home.capture("tone", "short", "--scope", "platform:hermes")
    home.prefs("consent", "grant", "--key-glob", "*", "--audience", "bob")
    return home


def test_get_loads_what_is_listed_here_and_no_more(filled: Home) -> None:
    found = _looked_at(filled, "prefs", "get")
    assert _packages(found) == {"judgment"}
    assert _ours(found) - OURS == set()
    assert set(found["loaded"]) & SLOW == set()


@pytest.mark.parametrize("form", ["text", "json"])
def test_inject_loads_what_is_listed_here_and_no_more(filled: Home, form: str) -> None:
    found = _looked_at(filled, "prefs", "inject", "--platform", "codex", "--format", form)
    assert _packages(found) == {"judgment"}
    assert _ours(found) - OURS - OF_INJECT == set()
    assert set(found["loaded"]) & SLOW == set()


def test_a_hooks_inject_loads_its_form_besides(filled: Home) -> None:
    found = _looked_at(filled, "prefs", "inject", "--platform", "codex", "--format", "hook")
    assert _packages(found) == {"judgment"}
    more = _ours(found) - OURS - OF_INJECT
    assert all(name.startswith("judgment.preferences.adapters") for name in more)


def test_a_disclosure_loads_neither_click_nor_pydantic_nor_httpx(filled: Home) -> None:
    found = _looked_at(filled, "prefs", "get", "--for", "bob")
    assert _packages(found) == {"judgment"}
    assert "asyncio" not in found["loaded"]


def test_the_long_name_takes_the_quick_way_too(filled: Home) -> None:
    assert _packages(_looked_at(filled, "judgment", "prefs", "get")) == {"judgment"}


@pytest.mark.parametrize("program", ["prefs", "judgment"])
def test_help_needs_click_and_nothing_else(home: Home, program: str) -> None:
    found = _looked_at(home, program, "--help")
    assert _packages(found) == {"judgment", "click"}
    assert _ours(found) - OURS - {"judgment.cli.commands"} == set()


@pytest.mark.parametrize("store", ["local", "hosted", "fulcra"])
@pytest.mark.parametrize("platform", ["codex", "hermes"])
def test_a_session_start_opens_one_file_of_the_preferences(
    filled: Home, store: str, platform: str
) -> None:
    root = filled.root / "hosted" if store == "hosted" else filled.root
    if store == "hosted":
        (root / "platforms").mkdir(parents=True)
        for name in ("compiled.json", "platforms/hermes.json"):
            (root / name).write_bytes((filled.root / name).read_bytes())
    home = Home(filled.folder, {"JUDGMENT_PREFS_STORE": store})
    for words in (["inject", "--platform", platform], ["get", "--platform", platform]):
        found = _looked_at(home, "prefs", *words)
        name = "platforms/hermes.json" if platform == "hermes" else "compiled.json"
        assert _inside(found, filled.folder) == [str(root / name)]


def _inside(found: dict[str, Any], folder: Path) -> list[str]:
    return [name for name in found["opened"] if name.startswith(str(folder))]


def test_a_capture_on_this_machine_needs_neither_pydantic_nor_httpx(home: Home) -> None:
    found = _looked_at(home, "prefs", "capture", *stated("a", 1))
    assert _packages(found) <= {"judgment", "click"}


def test_the_list_names_modules_that_there_are() -> None:
    for name in OURS | OF_INJECT:
        path = ROOT / "shared" / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), name
