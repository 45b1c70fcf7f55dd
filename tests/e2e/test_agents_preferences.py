"""Real agents, started headless, whose model receives the owner's preferences by their own hook.

Codex in every run; Claude Code, OpenClaw and Hermes with `--agents`. The home is prepared by the
command line alone, with 28,000 characters of preferences in a local store.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents.hooked import (
    AMOUNT,
    PREFS,
    Ending,
    Hooked,
    HookedClaudeCode,
    HookedCodex,
    HookedHermes,
    HookedOpenClaw,
    block,
    hooks,
    prepared,
)
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_wire import Say

if TYPE_CHECKING:
    from tests.e2e.agents.workbench import Home
    from tests.fakes.model_wire import Reply, Turn

HEADER = "## Preferences of the owner, for "
LARGE = [pytest.mark.agents, pytest.mark.timeout(600)]
HOOKED = [
    pytest.param(HookedCodex(), id="codex"),
    pytest.param(HookedClaudeCode(), id="claude-code", marks=LARGE),
    pytest.param(HookedOpenClaw(), id="openclaw", marks=LARGE),
    pytest.param(HookedHermes(), id="hermes", marks=LARGE),
]


@pytest.mark.promise("P3-adapters-real", "P3-adapters", "P3-adapters-budget", "P3-defect-16")
@pytest.mark.parametrize("hooked", HOOKED)
def test_a_session_begins_with_the_block_by_the_agents_own_hook(
    hooked: Hooked, tmp_path: Path
) -> None:
    with ModelServer(always("Understood.")) as model:
        home = prepared(hooked, tmp_path / "home", model.url)
        hooked.ask(home, "Before any hook.")
        assert HEADER not in model.told
        report = hooks(hooked, home)
        hooked.trust(home, "\n".join(report["notes"]))
        model.turns.clear()
        assert hooked.ask(home, "With it.").strip().endswith("Understood.")
    told, whole = model.turns[0].told, block(hooked, home)
    assert told.count(HEADER) == 1
    assert whole in told
    assert 8_000 < len(whole.encode()) <= 9_000
    first = [f'"topic.area {number:04d}.detail"' for number in range(5)]
    places = [whole.index(key) for key in first]
    assert places == sorted(places)
    assert whole.count("\n- avoids ") + whole.count("\n- wants ") + _omitted(whole) == AMOUNT


@pytest.mark.promise("P3-adapters-real", "P3-adapters", "P3-defect-23")
@pytest.mark.parametrize("hooked", HOOKED[:3])
def test_what_was_noticed_in_a_session_is_kept_when_it_ends(hooked: Ending, tmp_path: Path) -> None:
    def notices(turn: Turn) -> Reply:
        options = {"--key": "tea.kind", "--value": '"oolong"', "--strength": "0.9"}
        options |= {"--platform": hooked.platform, "--session": hooked.session(home, turn)}
        home.run(PREFS, "notice", *(word for pair in options.items() for word in pair))
        noticed.append(_tea(home))
        return Say("Noticed.")

    noticed: list[object] = []
    with ModelServer(notices) as model:
        home = prepared(hooked, tmp_path / "home", model.url)
        hooked.trust(home, "\n".join(hooks(hooked, home)["notes"]))
        hooked.ask(home, "I like oolong.")
    assert noticed == [None], "put aside, not kept, while the session lasts"
    assert _tea(home) == "oolong"


@pytest.mark.promise("P3-adapters-real", "P3-adapters")
@pytest.mark.parametrize("hooked", HOOKED[:3])
def test_after_uninstalling_nothing_is_told_and_nothing_is_left(
    hooked: Hooked, tmp_path: Path
) -> None:
    with ModelServer(always("Understood.")) as model:
        home = prepared(hooked, tmp_path / "home", model.url)
        report = hooks(hooked, home)
        file = Path(report["path"])
        hooked.trust(home, "\n".join(report["notes"]))
        assert hooks(hooked, home, "--uninstall")["outcome"] == "removed"
        hooked.ask(home, "Without it.")
    assert HEADER not in model.told
    if hooked.platform == "openclaw":
        assert not file.parent.exists()
    else:
        assert json.loads(file.read_text()) == {}


def _omitted(text: str) -> int:
    """As the block's last line counts them."""
    counted = text.splitlines()[-1].split(" more omitted for length.")[0]
    return int(counted)


def _tea(home: Home) -> object:
    got = json.loads(home.run(PREFS, "get", "tea.kind"))
    return got["keys"].get("tea.kind", {}).get("value")
