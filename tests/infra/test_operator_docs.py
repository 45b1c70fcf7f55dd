"""The operator's pages: their SQL runs, their names exist, every alarm has its line."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.checkout import ROOT
from infra.stacks.names import DATA, SERVICE

if TYPE_CHECKING:
    from tests.databases import TestDatabase
    from tests.infra.conftest import Assembly

RUNBOOKS = ROOT / "docs" / "runbooks"
GUIDE = (ROOT / "docs" / "operator-guide.md").read_text()


def sql_of(page: str) -> str:
    """The page's one block of SQL."""
    [found] = re.findall(r"```sql\n(.*?)```", (RUNBOOKS / page).read_text(), re.DOTALL)
    return found


@pytest.mark.promise("P1-1-docs", "000-10.1")
def test_the_kill_switch_can_be_thrown_in_the_database(fresh_database: TestDatabase) -> None:
    with psycopg.connect(fresh_database.url("judgment_worker"), autocommit=True) as worker:
        assert worker.execute(sql_of("kill-switch.md").encode()).rowcount == 1
        row = worker.execute("SELECT value FROM public.agent_feature_flags").fetchone()
    assert row is not None
    assert row[0]["global"] is False


@pytest.mark.promise("P1-1-docs")
def test_a_leaked_key_can_be_revoked_without_its_owner(fresh_database: TestDatabase) -> None:
    owner = uuid.uuid4()
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as admin:
        admin.execute("SELECT judgment.ensure_owner(%s, 'test', %s)", (owner, str(owner)))
        for name, last4 in (("leaked", "wxyz"), ("good", "abcd")):
            admin.execute(
                "INSERT INTO public.agent_api_keys (user_id, key_hash, name, prefix, last4)"
                " VALUES (%s, %s, %s, 'sync_AbCdEfG', %s)",
                (owner, name * 8, name, last4),
            )
    told = sql_of("leaked-key.md").replace("<user id>", str(owner))
    told = told.replace("<its first 12 characters>", "sync_AbCdEfG").replace("<its last 4>", "wxyz")
    with psycopg.connect(fresh_database.url("judgment_owner"), autocommit=True) as as_owner:
        as_owner.execute(told.encode())
    with psycopg.connect(fresh_database.admin_url) as admin:
        rows = admin.execute("SELECT name FROM public.agent_api_keys WHERE revoked_at IS NOT NULL")
        assert rows.fetchall() == [("leaked",)]


def test_what_waits_in_the_outbox_can_be_counted(fresh_database: TestDatabase) -> None:
    with psycopg.connect(fresh_database.url("judgment_worker"), autocommit=True) as worker:
        assert worker.execute(sql_of("dead-letters.md").encode()).fetchone() == (0, None)


@pytest.mark.promise("P1-1-docs")
def test_every_alarm_has_its_line_in_the_guide(on_aws: Assembly) -> None:
    alarms = [
        row["Properties"]["AlarmName"]
        for stack in (DATA, SERVICE)
        for row in on_aws.resources(stack, "AWS::CloudWatch::Alarm").values()
    ]
    doors = {door.name for door in on_aws.catalogue.doors}
    queues = {queue.name for queue in on_aws.catalogue.queues}
    subjects = "|".join(sorted(doors | queues, key=len, reverse=True))
    for alarm in alarms:
        kind = re.sub(rf"^judgment-(data-)?(({subjects})-)?", "", alarm)
        assert f"`{kind}`" in GUIDE, alarm


@pytest.mark.promise("P1-1-docs")
def test_names_in_the_pages_are_those_of_the_templates(on_aws: Assembly) -> None:
    pages = GUIDE + "".join(path.read_text() for path in sorted(RUNBOOKS.glob("*.md")))
    made = {
        str(row["Properties"].get(key))
        for template in on_aws.templates.values()
        for row in template["Resources"].values()
        for key in ("FunctionName", "TopicName", "Name", "AlarmName", "DBClusterIdentifier")
        if "Properties" in row
    } | set(on_aws.templates)
    named = re.findall(r"`([Jj]udgment-[A-Za-z_-]+)`", pages)
    foreign = {name for name in named if name not in made and "<" not in name}
    assert foreign <= {"judgment-restored"}
