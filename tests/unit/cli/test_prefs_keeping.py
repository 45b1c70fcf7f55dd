"""`prefs onboard`, `compile`, `doctor`, `forget`, `install-hooks` and `completion`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judgment.cli.program import PREFS
from tests.unit.cli.homes import Home, stated

pytestmark = pytest.mark.promise("P3-cli", "001-cli")


@pytest.mark.promise("001-onboard", "P3-cli-files")
def test_onboarding_makes_a_private_folder_and_says_what_comes_next(home: Home) -> None:
    said = home.prefs("onboard")
    assert (said.json["store"], said.json["root"]) == ("local", str(home.root))
    assert "prefs install-hooks" in said.err
    assert home.root.stat().st_mode & 0o077 == 0
    again = home.prefs("onboard").json
    assert (again["changed"], again["unchanged"]) == ([], ["compiled.json"])


@pytest.mark.promise("P3-defect-21", "P3-cli-files")
def test_compiling_again_writes_nothing(home: Home) -> None:
    home.capture("tone", "short")
    path = home.root / "compiled.json"
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert home.prefs("compile").json["changed"] == []
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.promise("P3-defect-03")
def test_a_platform_without_overrides_loses_its_document(home: Home) -> None:
    said = home.capture("tone", "verbose", "--scope", "platform:codex")
    home.capture("tone", "short")
    assert home.value("tone", "--platform", "codex") == "verbose"
    home.capture("tone", "brief", "--supersedes", said["id"])
    assert home.value("tone", "--platform", "codex") == "brief"
    assert not (home.root / "platforms" / "codex.json").exists()


@pytest.mark.promise("P3-defect-04", "P3-refuse")
def test_a_poisoned_line_is_counted_and_the_rest_holds(home: Home) -> None:
    home.capture("tone", "short")
    with (home.root / "signals.jsonl").open("a") as stream:
        stream.write('{"key": "x", "recorded_at": "garbage"}\n{"torn\n')
    said = home.prefs("compile").json
    assert [one["line"] for one in said["quarantined"]] == [2, 3]
    assert home.value("tone") == "short"
    notes = [one["text"] for one in home.prefs("doctor").json["findings"] if one["state"] == "note"]
    assert len(notes) == 2
    assert all("is set aside" in text for text in notes)


def test_doctor_tells_what_waits_and_what_is_well(home: Home) -> None:
    home.capture("tone", "short")
    home.prefs("notice", *stated("a", 1), "--session", "s1")
    said = home.prefs("doctor").json
    assert said["healthy"] is True
    waiting = [one["text"] for one in said["findings"] if one["name"] == "noticed"]
    assert waiting == ["1 statements wait for `prefs drain --platform codex`."]


def test_forgetting_leaves_no_file_that_holds_the_value(home: Home) -> None:
    home.capture("health.secret", "melatonin")
    home.capture("health.secret", "melatonin again")
    home.capture("tone", "short")
    home.prefs("notice", *stated("health.secret", "melatonin once more"), "--session", "s1")
    refused = home.prefs("forget", "health.secret", code=2)
    assert "give --yes" in refused.err
    said = home.prefs("forget", "health.secret", "--yes").json
    assert (said["signals"], said["noticed"]) == (2, 1)
    files = [path for path in home.root.rglob("*") if path.is_file()]
    assert not [path for path in files if b"melatonin" in path.read_bytes()]
    assert home.prefs("drain", "--platform", "codex").json["captured"] == []
    assert set(home.prefs("get").json["keys"]) == {"tone"}
    home.prefs("forget", "a..b", "--yes", code=2)


def test_hooks_are_installed_shown_and_taken_out_again(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    settings = project / ".claude" / "settings.local.json"
    words = ("install-hooks", "--platform", "claude-code", "--target-dir", str(project))
    home.process(*words, "--dry-run")
    assert not settings.exists()
    home.process(*words)
    assert "inject" in settings.read_text()
    home.process(*words, "--uninstall")
    assert "inject" not in settings.read_text()
    assert "no folder" in home.prefs(*words[:-1], "/no/such", code=2).err
    assert home.prefs("install-hooks", "--platform", "moon", code=2).out == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_of_the_shells(home: Home, shell: str) -> None:
    script = home.process("completion", shell).out
    assert "_PREFS_COMPLETE" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n", "-c", script], check=True)
    home.process("completion", "cmd", code=2)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("prefs ca", {"capture", "capture-batch"}),
        ("prefs consent ", {"grant", "revoke", "list"}),
        ("prefs solve --pol", {"--policy"}),
        ("prefs solve --policy h", {"hard-veto"}),
    ],
)
def test_the_shell_completes_commands_options_and_choices(
    home: Home, line: str, found: set[str]
) -> None:
    words = line.split(" ")
    completing = {
        "_PREFS_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    said = Home(home.folder, completing).process()
    assert {one.partition(",")[2] for one in said.out.split()} == found


def test_help_names_every_command_and_every_command_has_help(home: Home) -> None:
    shown = home.prefs("--help").out
    for command in PREFS.children:
        assert f"  {command.name} " in shown
        for words in [(one.name,) for one in command.children] or [()]:
            assert "Usage: " in home.prefs(command.name, *words, "--help").out


def test_the_short_name_is_the_long_ones_group(home: Home) -> None:
    code = "import sys; from judgment.cli.main import main; sys.exit(main())"
    home.capture("tone", "short")
    for words in (("prefs", "get", "tone"), ("prefs", "why", "tone"), ("prefs", "--help")):
        done = home.started(*words, code=code)
        out, error = done.communicate()
        assert (done.returncode, error) == (0, "")
        assert "tone" in out or "Usage: judgment prefs" in out


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize("words", [("sing",), ("consent", "sell"), ("get", "--colour")])
def test_what_is_no_command_is_a_mistake(home: Home, words: tuple[str, ...]) -> None:
    said = home.process(*words, code=2)
    assert said.out == ""
    assert "No such" in said.err


@pytest.mark.promise("P3-refuse")
def test_a_folder_that_cannot_be_written_is_said_and_no_traceback(home: Home) -> None:
    home.root.write_text("a file")
    said = home.process("capture", *stated("a", 1), code=1)
    assert said.out == ""
    assert said.err.startswith("Error: ")
    assert home.root.read_text() == "a file"


def test_a_reader_that_has_gone_ends_it_quietly(home: Home) -> None:
    home.capture("tone", "x" * 4000)
    reading, writing = os.pipe()
    os.close(reading)
    for words, code in ((("get",), 1), (("why", "tone"), 1), (("inject", "--platform", "c"), 0)):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from judgment.cli.main import prefs; sys.exit(prefs())",
                *words,
            ],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=home.environment(),
        )
        assert (done.returncode, done.stderr) == (code, "")
    os.close(writing)


def test_a_full_disk_under_stdout_is_said(home: Home) -> None:
    home.capture("tone", "short")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from judgment.cli.main import prefs; sys.exit(prefs())",
                "get",
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=home.environment(),
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_are_read_where_the_help_says(home: Home) -> None:
    usual = Home(home.folder, {"JUDGMENT_PREFS_DIR": ""})
    usual.capture("tone", "short")
    assert (home.folder / ".local/share/judgment/prefs/compiled.json").exists()
    xdg = Home(home.folder, {"JUDGMENT_PREFS_DIR": "", "XDG_DATA_HOME": str(home.folder / "data")})
    assert json.loads(xdg.process("onboard").out)["root"] == str(
        home.folder / "data" / "judgment" / "prefs"
    )
