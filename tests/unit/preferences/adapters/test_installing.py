"""`install-hooks` on real files: whole or not at all, with a backup, and no surprises."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judgment.kit.errors import Conflict, InvalidRequest
from judgment.preferences.adapters import filing
from judgment.preferences.adapters.hooks import draining, injection
from judgment.preferences.adapters.installing import PLACES, RECIPES, Report, install
from judgment.preferences.adapters.managed import BEGIN, BEGIN_OWN_FILE, END

PROGRAM = ["/opt/my tools/prefs"]
HOOKED = ["claude-code", "codex"]
MINE = '{\n  "model": "opus"\n}\n'


class Desk:
    """A home, and `install` for it."""

    def __init__(self, home: Path):
        self.home = home

    def install(self, platform: str, project: Path | None = None, **more: Any) -> Report:
        environ = {"HOME": str(self.home), **more.pop("environ", {})}
        return install(platform, project, more.pop("program", PROGRAM), environ=environ, **more)

    def file(self, platform: str) -> Path:
        """The file of a host, as its folder has it."""
        return (
            self.home
            / {
                "claude-code": ".claude/settings.json",
                "codex": ".codex/hooks.json",
                "agents-md": ".codex/AGENTS.md",
            }[platform]
        )

    def hold(self, platform: str, text: str) -> Path:
        """Let that be in the file."""
        self.file(platform).parent.mkdir(exist_ok=True)
        self.file(platform).write_text(text)
        return self.file(platform)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def names(folder: Path) -> set[str]:
    """What is in a folder."""
    return {path.name for path in folder.iterdir()}


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("platform", HOOKED)
def test_a_new_file_is_made_and_a_second_time_changes_nothing(desk: Desk, platform: str):
    report = desk.install(platform)
    assert (report.outcome, report.path, report.backup) == ("installed", desk.file(platform), None)
    assert report.notes
    text = desk.file(platform).read_text()
    assert f"'/opt/my tools/prefs' inject --platform {platform} --format hook" in text
    again = desk.install(platform)
    assert (again.outcome, again.diff, again.backup) == ("unchanged", "", None)
    assert desk.file(platform).read_text() == text
    assert names(desk.file(platform).parent) == {desk.file(platform).name}


@pytest.mark.promise("P3-adapters", "P3-defect-25")
@pytest.mark.parametrize("platform", HOOKED)
def test_what_was_there_is_kept_beside_and_comes_back(desk: Desk, platform: str):
    file = desk.hold(platform, MINE)
    file.chmod(0o640)
    report = desk.install(platform)
    assert report.backup == file.with_name(file.name + filing.BACKUP)
    assert report.backup.read_text() == MINE
    assert [stat.S_IMODE(p.stat().st_mode) for p in (file, report.backup)] == [0o640, 0o640]
    assert json.loads(file.read_text())["model"] == "opus"
    assert desk.install(platform, uninstall=True).outcome == "removed"
    assert file.read_text() == MINE
    assert desk.install(platform, uninstall=True).outcome == "unchanged"


@pytest.mark.promise("P3-adapters", "P3-defect-25")
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_file_and_no_litter(
    desk: Desk, step: str, monkeypatch: pytest.MonkeyPatch
):
    file = desk.hold("claude-code", MINE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, step, full)
        with pytest.raises(Conflict, match="No space left"):
            desk.install("claude-code")
    assert file.read_text() == MINE
    assert names(file.parent) == {"settings.json"}


KILLED = """
import sys
from pathlib import Path
from judgment.kit.killpoints import arm
from judgment.preferences.adapters.installing import install
arm(sys.argv[1])
install(sys.argv[2], None, ["/opt/my tools/prefs"], environ={"HOME": sys.argv[3]})
"""


def killed(desk: Desk, point: str, platform: str) -> None:
    """Install in a process that dies at that point."""
    words = [sys.executable, "-c", KILLED, point, platform, str(desk.home)]
    assert subprocess.run(words, timeout=60, check=False).returncode == -signal.SIGKILL


@pytest.mark.promise("P3-adapters", "P3-defect-25")
@pytest.mark.parametrize("point", ["filing.written", "filing.kept", "filing.changed"])
def test_an_installer_that_is_killed_leaves_one_whole_file_and_can_run_again(
    desk: Desk, point: str
):
    file = desk.hold("claude-code", MINE)
    killed(desk, point, "claude-code")
    assert (file.read_text() == MINE) == (point != "filing.changed")
    assert json.loads(file.read_text())["model"] == "opus"
    desk.install("claude-code")
    assert len(json.loads(file.read_text())["hooks"]["SessionStart"]) == 1
    assert file.with_name(file.name + filing.BACKUP).read_text() == MINE
    desk.install("claude-code", uninstall=True)
    assert file.read_text() == MINE


@pytest.mark.promise("P3-adapters")
def test_a_hook_of_two_files_that_was_half_put_there_is_completed_or_taken_out(desk: Desk):
    folder = desk.home / ".openclaw/hooks/judgment-preferences"
    killed(desk, "filing.changed", "openclaw")
    assert names(folder) == {"HOOK.md"}
    assert desk.install("openclaw").outcome == "installed"
    assert names(folder) == {"HOOK.md", "handler.js"}
    (folder / "handler.js").unlink()
    assert desk.install("openclaw", uninstall=True).outcome == "removed"
    assert not folder.exists()


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("uninstall", [False, True])
def test_a_file_that_its_owner_made_read_only_is_left_as_it_is(desk: Desk, uninstall: bool):
    desk.install("codex")
    file = desk.file("codex")
    if not uninstall:
        file.write_text(MINE)
    before = file.read_text()
    file.chmod(0o444)
    with pytest.raises(Conflict, match="is read-only"):
        desk.install("codex", uninstall=uninstall)
    assert file.read_text() == before
    assert names(file.parent) == {"hooks.json"}


@pytest.mark.promise("P3-adapters")
def test_a_file_that_changed_meanwhile_is_not_overwritten(desk: Desk):
    file = desk.hold("claude-code", MINE)
    held = filing.read(file)
    file.write_text('{"model": "sonnet"}')
    with pytest.raises(Conflict, match="changed meanwhile"):
        filing.change(held, "{}")
    assert file.read_text() == '{"model": "sonnet"}'


@pytest.mark.promise("P3-adapters")
def test_a_dry_run_shows_the_change_and_makes_none(desk: Desk):
    file = desk.hold("codex", MINE)
    report = desk.install("codex", dry_run=True)
    assert (report.outcome, report.dry_run, report.backup) == ("installed", True, None)
    assert report.diff.startswith(f"--- {file}\n+++ {file}\n")
    assert '+    "SessionStart": [' in report.diff
    assert file.read_text() == MINE
    assert names(file.parent) == {"hooks.json"}
    file.unlink()
    assert desk.install("codex", dry_run=True).diff.startswith("--- /dev/null\n")
    assert not file.exists()
    assert report.facts()["path"] == str(file)


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("platform", HOOKED)
def test_a_broken_file_is_named_and_left_as_it_is(desk: Desk, platform: str):
    file = desk.hold(platform, "{ // mine\n}")
    with pytest.raises(Conflict, match="is not valid JSON") as said:
        desk.install(platform)
    assert str(file) in said.value.message
    assert file.read_text() == "{ // mine\n}"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(Conflict, match="not in UTF-8"):
        desk.install(platform)
    assert file.read_bytes() == b"\xff\xfe{}"


@pytest.mark.promise("P3-adapters")
def test_a_link_is_followed_to_a_file_of_the_same_kind_and_stays_a_link(desk: Desk):
    real = desk.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text(MINE)
    link = desk.file("claude-code")
    link.parent.mkdir()
    link.symlink_to(real)
    desk.install("claude-code")
    assert link.is_symlink()
    assert "SessionStart" in real.read_text()
    assert names(real.parent) == {"claude.json", "claude.json.before-prefs"}


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_anything_else_is_refused(desk: Desk, there: bool):
    secret = desk.home / "authorized_keys"
    if there:
        secret.write_text("ssh-ed25519 AAAA")
    project = desk.home / "work"
    project.mkdir()
    (project / "AGENTS.md").symlink_to(secret)
    with pytest.raises(Conflict, match="is a link to"):
        desk.install("agents-md", project, text="block")
    assert secret.exists() is there
    (project / "AGENTS.md").unlink()
    (project / "AGENTS.md").symlink_to("AGENTS.md")
    with pytest.raises(Conflict, match="cannot be read"):
        desk.install("agents-md", project, text="block")


def test_a_folder_or_a_pipe_in_its_place_is_refused(desk: Desk):
    file = desk.file("codex")
    file.mkdir(parents=True)
    with pytest.raises(Conflict, match="no regular file"):
        desk.install("codex")
    file.rmdir()
    os.mkfifo(file)
    with pytest.raises(Conflict, match="no regular file"):
        desk.install("codex")


@pytest.mark.promise("P3-adapters")
def test_a_project_gets_the_file_that_is_not_shared_and_a_moved_folder_is_found(desk: Desk):
    project = desk.home / "work"
    project.mkdir()
    assert desk.install("claude-code", project).path == project / ".claude/settings.local.json"
    assert desk.install("codex", project).path == project / ".codex/hooks.json"
    assert desk.install("agents-md", project, text="x").path == project / "AGENTS.md"
    moved = {"CLAUDE_CONFIG_DIR": str(desk.home / "c"), "CODEX_HOME": str(desk.home / "x")}
    assert desk.install("claude-code", environ=moved).path == desk.home / "c/settings.json"
    assert desk.install("codex", environ=moved).path == desk.home / "x/hooks.json"


@pytest.mark.promise("P3-adapters")
def test_the_block_of_agents_md_is_put_in_renewed_and_taken_out_with_the_file_it_made(desk: Desk):
    file = desk.file("agents-md")
    assert desk.install("agents-md", text="first\n").outcome == "installed"
    assert file.read_text() == f"{BEGIN_OWN_FILE}\nfirst\n{END}\n"
    assert desk.install("agents-md", text="second\n").outcome == "installed"
    assert "second" in file.read_text()
    assert desk.install("agents-md", uninstall=True).outcome == "removed"
    assert names(file.parent) == set(), "no copy of what the owner wants is left behind"
    desk.hold("agents-md", "# Mine\n")
    desk.install("agents-md", text="third\n")
    assert file.read_text() == f"# Mine\n\n{BEGIN}\nthird\n{END}\n"
    assert desk.install("agents-md", text="").outcome == "removed"
    assert file.read_text() == "# Mine\n"


@pytest.mark.promise("P3-adapters")
@pytest.mark.parametrize("platform", RECIPES)
def test_where_nothing_is_edited_the_steps_are_said_with_the_command_in_them(
    desk: Desk, platform: str
):
    report = desk.install(platform)
    assert report.outcome == "recipe"
    assert "'/opt/my tools/prefs'" in report.notes[0]
    assert names(desk.home) == set()
    assert desk.install(platform, uninstall=True).notes != report.notes


@pytest.mark.promise("P3-adapters")
def test_a_path_that_holds_a_mark_of_the_recipe_stands_there_as_it_is(desk: Desk):
    path = '/opt/PREFS \'n DRAIN/"INJECT"/prefs'
    lines = desk.install("hermes", program=[path]).notes[0].splitlines()
    commands = [line.split("command: ")[1] for line in lines if "command: " in line]
    words = [shlex.split(json.loads(command)) for command in commands]
    assert words == [
        [path, *injection("hermes")],
        [path, *draining("hermes")],
        [path, *draining("hermes")],
    ]
    (said,) = desk.install("chatgpt", program=[path]).notes
    assert shlex.split(said.strip().splitlines()[-1])[0] == path


def test_what_cannot_be_installed_is_a_mistake_of_the_caller(desk: Desk):
    with pytest.raises(InvalidRequest, match=", ".join(PLACES)):
        desk.install("emacs")
    for program in ([], ["prefs"], ["./prefs"]):
        with pytest.raises(InvalidRequest, match="absolute path"):
            desk.install("codex", program=program)
    with pytest.raises(InvalidRequest, match="UTF-8"):
        desk.install("codex", program=[os.fsdecode(b"/opt/\xff/prefs")])
    with pytest.raises(InvalidRequest, match="is no folder"):
        desk.install("codex", desk.home / "nowhere")
    with pytest.raises(InvalidRequest, match="HOME"):
        install("codex", None, PROGRAM, environ={})


@pytest.mark.promise("P3-adapters")
def test_openclaw_gets_a_hook_of_its_own_that_goes_without_a_trace(desk: Desk):
    report = desk.install("openclaw")
    folder = desk.home / ".openclaw/hooks/judgment-preferences"
    assert report.path == folder / "HOOK.md"
    assert "openclaw hooks enable judgment-preferences" in report.notes[0]
    assert 'const PROGRAM = ["/opt/my tools/prefs"];' in (folder / "handler.js").read_text()
    assert desk.install("openclaw").outcome == "unchanged"
    moved = desk.install("openclaw", program=["/usr/bin/prefs"])
    assert (moved.outcome, moved.backup) == ("installed", None)
    assert names(folder) == {"HOOK.md", "handler.js"}
    (folder / "handler.js").write_text("export default () => {};")
    for uninstall in (True, False):
        with pytest.raises(Conflict, match=r"handler\.js: It was not made by this command"):
            desk.install("openclaw", uninstall=uninstall)
    (folder / "handler.js").unlink()
    assert desk.install("openclaw", uninstall=True).outcome == "removed"
    assert names(folder.parent) == set()
