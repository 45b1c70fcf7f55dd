"""What the bare side of a budget is made from: calls heard, and CPU read from the kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import psycopg
import pytest
from botocore.stub import Stubber

from tests.bench import accounting
from tests.bench.accounting import cpu_by_part, rendered
from tests.bench.recording import Heard, listening, replay_operations, replay_sql, selects_of

if TYPE_CHECKING:
    from tests.databases import TestDatabase


@pytest.mark.promise("P1-measure")
def test_statements_are_heard_and_replayed_alike(empty_database: TestDatabase) -> None:
    with psycopg.connect(empty_database.admin_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE seen (n int)")
        with listening() as heard:
            connection.execute(b"BEGIN")
            connection.execute("INSERT INTO seen VALUES (%s) RETURNING n", (7,)).fetchall()
            connection.execute(b"COMMIT")
        connection.execute("SELECT 1")
        assert [query for query, _ in heard.statements] == [
            b"BEGIN",
            "INSERT INTO seen VALUES (%s) RETURNING n",
            b"COMMIT",
        ]
        replay_sql(connection, heard)()
        rows = connection.execute("SELECT n FROM seen").fetchall()
        assert rows == [(7,), (7,)]
    assert selects_of(heard).statements == [("INSERT INTO seen VALUES (%s) RETURNING n", (7,))]


def test_sdk_calls_are_heard_and_replayed_alike() -> None:
    client: Any = boto3.client(
        "dynamodb", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    asked = {"TableName": "limits", "Key": {"pk": {"S": "a"}}}
    with Stubber(client) as stub:
        for _ in range(2):
            stub.add_response("delete_item", {}, asked)
        with listening() as heard:
            client.delete_item(**asked)
        assert heard == Heard([], [("DeleteItem", asked)])
        replay_operations(client, heard)()
        stub.assert_no_pending_responses()


def _process(
    proc: Path, pid: int, parent: int, ticks: int, *, command: str, door: str = ""
) -> None:
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    spent = f"{ticks} 0"
    (folder / "stat").write_text(f"{pid} (a (b) c) S {parent} 0 0 0 0 0 0 0 0 0 {spent} 0 0")
    (folder / "cmdline").write_bytes(command.replace(" ", "\0").encode())
    named = f"AWS_LAMBDA_FUNCTION_NAME=judgment-{door}" if door else "HOME=/nowhere"
    (folder / "environ").write_bytes(f"LANG=C\0{named}\0".encode())


def test_cpu_is_told_apart_by_part_below_one_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(accounting, "PROC", tmp_path)
    monkeypatch.setattr(accounting, "TICKS", 100)

    def spend(ticks: int) -> None:
        _process(tmp_path, 10, 1, 5, command="python -m infra.local up")
        _process(tmp_path, 11, 10, ticks, command="python -m infra.local.gateway x")
        _process(tmp_path, 12, 11, 3 * ticks, command="python -m worker", door="profile_read")
        _process(tmp_path, 13, 10, 2 * ticks, command="postgres: reader")
        _process(tmp_path, 20, 1, 50 * ticks, command="postgres: somebody else's")

    spend(0)
    used = cpu_by_part(lambda: spend(4), 2, root=10)
    assert used == {"door profile_read": 60.0, "Postgres": 40.0, "gateway": 20.0}
    assert rendered(used).splitlines()[-1].split() == ["120.00", "together"]
