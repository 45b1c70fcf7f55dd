"""`prefs` with the hosted store: the API decides, a copy is read, what cannot be sent waits."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from judgment.cli.preferences import sending
from judgment.contract.preferences import BATCH_LIMIT
from tests.unit.cli.homes import ENTRY, Home, item, stated
from tests.unit.cli.hosted_api import KEY, TOKEN, WRONG, Api

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("P3-cli", "001-cli")
DOWN = (503, {"code": "unavailable", "message": "Later."})


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as running:
        yield running


def _home(folder: Path, **settings: str) -> Home:
    return Home(folder, {"JUDGMENT_PREFS_STORE": "hosted", **settings})


@pytest.fixture
def owner(api: Api, tmp_path: Path) -> Home:
    return _home(tmp_path, SYNC_API_URL=api.url, SYNC_OWNER_TOKEN=TOKEN)


@pytest.fixture
def agent(api: Api, tmp_path: Path) -> Home:
    return _home(tmp_path, SYNC_API_URL=api.url, SYNC_API_KEY=KEY)


@pytest.mark.parametrize("who", ["owner", "agent"])
def test_a_capture_goes_to_the_api_and_the_copy_is_read(
    who: str, request: pytest.FixtureRequest, api: Api
) -> None:
    home: Home = request.getfixturevalue(who)
    home.prefs("onboard")
    said = home.capture("dining.tea", "green", "--agent", "main", "--session", "s1")
    assert said["state"] == "sent"
    assert [one.id for one in api.signals] == [said["id"]]
    assert home.prefs("compile").json["changed"] == ["global"]
    asked = len(api.asked)
    assert home.value("dining.tea") == "green"
    assert '"dining.tea"' in home.prefs("inject", "--platform", "codex").out
    assert len(api.asked) == asked
    assert home.prefs("compile").json["unchanged"] == ["global"]


def test_a_copy_is_whole_over_many_pages_and_platforms(owner: Home, api: Api) -> None:
    for number in range(7):
        owner.capture(f"key.n{number}", number)
    owner.capture("key.n0", "mine", "--scope", "platform:hermes")
    api.page = 2
    owner.prefs("compile")
    assert len(owner.prefs("get").json["keys"]) == 7
    assert (owner.value("key.n0"), owner.value("key.n0", "--platform", "hermes")) == (0, "mine")
    api.signals.pop()
    assert owner.prefs("compile").json["removed"] == ["hermes"]
    assert owner.value("key.n0", "--platform", "hermes") == 0


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize("trouble", [DOWN, (502, b"<html>"), (401, WRONG), (302, b"")])
def test_what_cannot_be_sent_waits_and_is_sent_later(
    owner: Home, api: Api, trouble: object
) -> None:
    api.trouble = trouble  # pyright: ignore[reportAttributeAccessIssue]
    said = owner.prefs("capture", *stated("tone", "short"))
    assert said.json["state"] == "queued"
    assert "Waiting to be sent: " in said.err
    assert owner.prefs("compile", code=1).out == ""
    doctor = owner.prefs("doctor", code=1)
    assert "1 signals wait: compile sends them." in doctor.out
    api.trouble = None
    assert owner.prefs("compile").json["waiting"] == 0
    assert [one.key for one in api.signals] == ["tone"]
    assert owner.value("tone") == "short"


@pytest.mark.promise("P3-refuse")
def test_without_a_network_a_session_still_starts(owner: Home, api: Api, tmp_path: Path) -> None:
    owner.capture("tone", "short")
    owner.prefs("compile")
    away = _home(tmp_path, SYNC_API_URL="http://127.0.0.1:9", SYNC_OWNER_TOKEN=TOKEN)
    assert away.value("tone") == "short"
    assert '"tone"' in away.process("inject", "--platform", "codex").out
    assert away.capture("tea", "green")["state"] == "queued"
    for words in (("why", "tone"), ("consent", "list"), ("get", "--for", "bob"), ("compile",)):
        said = away.prefs(*words, code=1)
        assert "127.0.0.1 cannot be reached" in said.err
        assert TOKEN not in said.out + said.err
    owner.prefs("compile")
    assert [one.key for one in api.signals] == ["tone", "tea"]


@pytest.mark.promise("P3-defect-05", "P3-refuse")
def test_what_the_api_refuses_is_told_and_the_rest_is_kept(owner: Home, api: Api) -> None:
    api.declined = {"bad"}
    batch = json.dumps([item("a", 1), item("bad", 2), item("c", 3)])
    words = ("capture-batch", "--platform", "codex", "--file", "-")
    said = owner.prefs(*words, code=1, stdin=batch)
    assert said.json["captured"] == 2
    assert list(said.json["refused"].values()) == ["This key is not wanted. (invalid_request)"]
    assert [one.key for one in api.signals] == ["a", "c"]
    sent = api.count("POST", "/signals")
    owner.prefs("compile")
    assert api.count("POST", "/signals") == sent
    assert "was refused" in owner.prefs("doctor", code=1).err


def test_a_long_import_goes_in_as_few_requests_as_the_api_takes(owner: Home, api: Api) -> None:
    api.declined = {"key.n150"}
    batch = json.dumps([item(f"key.n{n}", n) for n in range(350)])
    words = ("capture-batch", "--platform", "codex", "--file", "-")
    said = owner.prefs(*words, code=1, stdin=batch).json
    assert (said["captured"], len(said["refused"])) == (349, 1)
    assert len(api.signals) == 349
    assert api.count("POST", "/signals") <= 4 + 2 * 7
    assert sending.BATCH_LIMIT == BATCH_LIMIT


@pytest.mark.promise("P3-defect-22", "P3-refuse")
@pytest.mark.parametrize("point", ["prefs_outbox.sent", "prefs_outbox.buried"])
def test_a_capture_killed_while_it_is_sent_arrives_once(owner: Home, api: Api, point: str) -> None:
    dying = f"from judgment.kit.killpoints import arm; arm('{point}'); {ENTRY}"
    process = owner.started("capture", *stated("tone", "short"), code=dying)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert owner.prefs("compile").json["waiting"] == 0
    assert [one.key for one in api.signals] == ["tone"]
    assert owner.value("tone") == "short"


@pytest.mark.promise("P3-refuse")
def test_what_was_sent_before_the_trouble_is_not_sent_again(owner: Home, api: Api) -> None:
    api.trouble_after = 2
    batch = json.dumps([item(f"key.n{n}", n) for n in range(350)])
    words = ("capture-batch", "--platform", "codex", "--file", "-")
    said = owner.prefs(*words, stdin=batch)
    assert said.json["state"] == "queued"
    assert len(api.signals) == 200
    api.trouble_after = None
    assert owner.prefs("compile").json["waiting"] == 0
    assert len(api.signals) == 350
    assert api.count("POST", "/signals") == 2 + 1 + 2


@pytest.mark.promise("P3-consent", "P3-ledger")
def test_consent_ledger_and_disclosure_are_the_apis(owner: Home, api: Api) -> None:
    owner.capture("dining.tea", "green")
    owner.capture("tone", "short")
    owner.prefs("compile")
    assert owner.prefs("get", "--for", "bob", code=1).json["keys"] == {}
    grant = ("consent", "grant", "--key-glob", "dining.*", "--audience", "bob")
    owner.prefs(*grant, "--expires", "2999-01-01T00:00:00Z")
    shown = owner.prefs("get", "dining.tea", "tone", "--for", "bob")
    tea = {"value": "green", "weight": 0.8, "confidence": 1.0, "kind": "preference"}
    assert shown.json["keys"] == {"dining.tea": tea}
    assert "1 of the keys" in shown.err
    assert len(api.links) == 2
    revoked = owner.prefs("consent", "revoke", "--key-glob", "*", "--audience", "bob").json
    assert [one["key_glob"] for one in revoked["touches"]] == ["dining.*"]
    assert owner.prefs("get", "--for", "bob", code=1).json["keys"] == {}
    events = owner.prefs("consent", "list").json["events"]
    assert [(one["effect"], one["live"]) for one in events] == [("allow", False), ("revoke", False)]
    api.page = 2
    kinds = [one["kind"] for one in owner.prefs("ledger", "show").json["entries"]]
    assert kinds == ["denial", "disclosure", "denial"]
    assert len(owner.prefs("ledger", "show", "--limit", "1").json["entries"]) == 1
    assert owner.prefs("ledger", "verify").json["length"] == 3
    asked = len(api.asked)
    owner.prefs("consent", "grant", "--key-glob", "din*", "--audience", "bob", code=2)
    assert len(api.asked) == asked


def test_why_and_diff_ask_the_api(owner: Home) -> None:
    first = owner.capture("tone", "short")["id"]
    owner.prefs("compile")
    second = owner.capture("tone", "long")["id"]
    assert owner.prefs("why", "tone").json["winner"] == second
    assert set(owner.prefs("diff").json["changed"]) == {"tone"}
    assert owner.value("tone") == "short"
    assert first != second


@pytest.mark.promise("P3-hosted-group", "P3-solver-verify")
def test_a_group_with_owners_is_decided_by_the_api_and_its_answer_holds(
    owner: Home, api: Api, tmp_path: Path
) -> None:
    owner.capture("dining.tea", "green")
    somebody = "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1"
    people = [{"self": True}, {"owner": somebody}, {"id": "bob", "weights": {"dining.beer": 0.5}}]
    files = {"options": [{"id": "tea", "keys": ["dining.tea"]}], "participants": people}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    question = [word for name in files for word in (f"--{name}", str(tmp_path / name))]
    for more in ((), ("--words",)):
        said = owner.prefs("solve", *question, *more)
        assert [one["option"] for one in said.json["ranking"]] == ["tea"]
        assert said.json["without_consent"] == [somebody]
        assert bool(said.json["words"]) is bool(more)
        assert owner.prefs("solve", "--verify", "-", stdin=said.out).json["holds"] is True
    assert api.count("POST", "/solve") == 2
    local = Home(tmp_path).prefs("solve", *question, code=2)
    assert "participant" in local.err
    (tmp_path / "participants").write_text(json.dumps(people[2:]))
    owner.prefs("solve", *question)
    assert api.count("POST", "/solve") == 2


def test_forgetting_deletes_there_in_the_queue_and_in_the_copy(owner: Home, api: Api) -> None:
    for value in range(5):
        owner.capture("health.secret", value)
    owner.capture("tone", "short")
    owner.prefs("compile")
    api.page = 2
    api.trouble = DOWN
    owner.capture("health.secret", "melatonin")
    api.trouble = None
    said = owner.prefs("forget", "health.secret", "--yes").json
    assert (said["signals"], said["documents"], said["trouble"]) == (5, 1, None)
    assert [one.key for one in api.signals] == ["tone"]
    owner.prefs("compile")
    assert [one.key for one in api.signals] == ["tone"]
    assert set(owner.prefs("get").json["keys"]) == {"tone"}
    files = [path for path in owner.root.rglob("*") if path.is_file()]
    assert not [path for path in files if b"melatonin" in path.read_bytes()]


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    "words",
    [
        ("consent", "list"),
        ("consent", "grant", "--key-glob", "*", "--audience", "bob"),
        ("consent", "revoke", "--key-glob", "*", "--audience", "bob"),
        ("ledger", "show"),
        ("ledger", "verify"),
        ("forget", "tone", "--yes"),
    ],
)
def test_an_agents_key_does_not_do_what_is_the_owners(
    agent: Home, api: Api, words: tuple[str, ...]
) -> None:
    said = agent.prefs(*words, code=2)
    assert "SYNC_OWNER_TOKEN is required" in said.err
    assert api.asked == []


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    "address", ["http://api.example", "http://10.0.0.1", "http://127.0.0.1.example"]
)
def test_a_credential_never_goes_in_the_clear(tmp_path: Path, address: str) -> None:
    home = _home(tmp_path, SYNC_API_URL=address, SYNC_OWNER_TOKEN=TOKEN)
    said = home.prefs("why", "tone", code=1)
    assert "https://" in said.err
    queued = home.prefs("capture", *stated("tone", "short"))
    assert queued.json["state"] == "queued"
    assert TOKEN not in said.err + queued.out + queued.err


@pytest.mark.promise("P3-refuse")
def test_no_credential_is_ever_printed_or_kept(owner: Home, api: Api) -> None:
    owner.capture("tone", "short")
    told: list[str] = []
    for trouble in (None, DOWN, (401, WRONG), (200, TOKEN.encode())):
        api.trouble = trouble
        for words in (["doctor"], ["compile"], ["why", "tone"], ["consent", "list"]):
            said = owner.prefs(*words, code=None)
            told += [said.out, said.err]
    assert all(TOKEN not in one and KEY not in one for one in told)
    files = [path for path in owner.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, "SYNC_API_URL"),
        ({"SYNC_API_URL": "http://127.0.0.1:9"}, "SYNC_OWNER_TOKEN or SYNC_API_KEY"),
        ({"JUDGMENT_STACK": "/no/such.json"}, "/no/such.json does not describe"),
    ],
)
def test_missing_settings_are_named(tmp_path: Path, settings: dict[str, str], named: str) -> None:
    home = _home(tmp_path, **settings)
    for words in (("why", "tone"), ("onboard",), ("capture", *stated("a", 1))):
        assert named in home.prefs(*words, code=2).err
    assert home.prefs("get").json["keys"] == {}


def test_a_local_stacks_file_stands_in_for_the_settings(api: Api, tmp_path: Path) -> None:
    stack = tmp_path / "stack.json"
    demo = {"agent_key": KEY, "owner_token": TOKEN}
    stack.write_text(json.dumps({"api_url": api.url, "owners": {"demo": demo}}))
    home = _home(tmp_path, JUDGMENT_STACK=str(stack))
    home.prefs("onboard")
    assert home.prefs("consent", "list").json["events"] == []


def test_the_copy_is_never_mixed_with_local_signals(owner: Home, tmp_path: Path) -> None:
    owner.capture("tone", "hosted")
    owner.prefs("compile")
    local = Home(tmp_path)
    local.capture("tone", "local")
    assert (owner.value("tone"), local.value("tone")) == ("hosted", "local")
