"""One connection per process, and transactions that carry the owner they act for.

A Lambda environment serves one request at a time and is frozen between two, so there is no pool
and no ping: the first statement of a transaction finds out whether the connection is still there.
It changes nothing, so it is replayed once on a new connection (as is a lone `statement`, which its
caller vouches for). Nothing later is replayed: an outage in the middle of a transaction, its commit
included, is `Unavailable` and the caller's to repeat.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast
from uuid import UUID

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from judgment.db.errors import DatabaseError, translated
from judgment.kit.errors import Unavailable

CONNECT_TIMEOUT_SECONDS = 5
Params = Mapping[str, Any] | Sequence[Any] | None
Connect = Callable[..., psycopg.Connection[Any]]

_LOST = (pg.AdminShutdown, pg.CrashShutdown, pg.CannotConnectNow, pg.ReadOnlySqlTransaction)
_CLAIM = "request.jwt.claim.sub"
_RDS_SUFFIX = ".rds.amazonaws.com"
_NETWORK = {
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds until a host that vanished counts as gone
}


def json_value(value: Any) -> Any:
    """A parameter for a jsonb column. Raises UnstorableValue on execution for a NUL in a text."""
    return Jsonb(value)


class Transaction:
    """An open transaction: statements in, plain rows out.

    Every method raises `Unavailable` on an outage or a statement timeout, `UnstorableValue`, and
    the classes of `judgment.db.errors`; after any of them only leaving the transaction is left.
    """

    def __init__(self, connection: psycopg.Connection[DictRow], *, read_only: bool):
        self._connection = connection
        self._read_only = read_only

    def execute(self, sql: str, params: Params = None) -> int:
        """Run a statement; the number of rows that it touched."""
        return self._run(sql, params).rowcount

    def all(self, sql: str, params: Params = None) -> list[dict[str, Any]]:
        """Every row, as a dict by column name."""
        return self._run(sql, params).fetchall()

    def one(self, sql: str, params: Params = None) -> dict[str, Any] | None:
        """The first row, or None."""
        return self._run(sql, params).fetchone()

    def value(self, sql: str, params: Params = None) -> Any:
        """The first column of the first row, or None without a row."""
        row = self._run(sql, params).fetchone()
        return None if row is None else next(iter(row.values()))

    def many(self, sql: str, rows: Sequence[Params]) -> None:
        """Run one statement for each set of parameters, in few round trips."""
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(sql.encode(), cast("Any", rows))
        except (psycopg.Error, UnicodeError) as error:
            raise self._refusal(error) from error

    def _run(self, sql: str, params: Params) -> psycopg.Cursor[DictRow]:
        try:
            return self._connection.execute(sql.encode(), params)
        except (psycopg.Error, UnicodeError) as error:
            raise self._refusal(error) from error

    def _refusal(self, error: psycopg.Error | UnicodeError) -> Exception:
        if isinstance(error, pg.ReadOnlySqlTransaction):
            if self._read_only:
                return DatabaseError(str(error))
            self._connection.close()  # the next one reaches the new writer
        return translated(error)


class _Alone(Transaction):
    """A statement that is its own transaction, and is repeated where `run` finds that it may be."""

    def __init__(self, run: Callable[[bytes, Params], psycopg.Cursor[DictRow]]):
        self._alone = run

    def _run(self, sql: str, params: Params) -> psycopg.Cursor[DictRow]:
        try:
            return self._alone(sql.encode(), params)
        except (psycopg.Error, UnicodeError) as error:
            raise translated(error) from error


class Database:
    """The process's one connection, made when first needed and again when it was lost.

    `url` is a libpq URL carrying the role; where it names an RDS host and no password, a token is
    made for each connection. Requests of several threads take turns; a transaction inside another
    one of the same thread is a defect and raises RuntimeError.
    """

    def __init__(
        self,
        url: str,
        *,
        application_name: str = "",
        connect: Connect = psycopg.connect,
    ):
        self._options = _connection_options(url, application_name)
        self._iam = _wants_token(self._options)
        self._connect = connect
        self._connection: psycopg.Connection[DictRow] | None = None
        self._turn = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def transaction(
        self, user_id: UUID | None = None, *, read_only: bool = False
    ) -> Generator[Transaction]:
        """BEGIN on behalf of `user_id` (None: of nobody), COMMIT at the end, else ROLLBACK.

        Raises Unavailable when Postgres cannot be reached, also at COMMIT (whose outcome is then
        unknown), and DatabaseError when the body swallowed a statement's failure.
        """
        with self._one_at_a_time():
            connection = self._begin(user_id, read_only)
            try:
                yield Transaction(connection, read_only=read_only)
            except BaseException:  # also a cancelled body must not leave its claim behind
                self._abandon(connection)
                raise
            self._commit(connection)

    @contextmanager
    def statement(self) -> Generator[Transaction]:
        """For one statement on behalf of nobody, in a transaction of its own and one round trip.

        Only for a statement that may run twice: it is repeated when its connection was lost, and
        nobody knows whether that was before its commit. Raises like `transaction`.
        """
        with self._one_at_a_time():
            yield _Alone(self._execute_alone)

    @property
    def in_transaction(self) -> bool:
        """Whether the calling thread has a transaction or a lone statement open."""
        return self._holder == threading.get_ident()

    def close(self) -> None:
        """Close the connection, if there is one; the next transaction opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _one_at_a_time(self) -> Generator[None]:
        if self.in_transaction:
            raise RuntimeError("A transaction is open already.")
        with self._turn:
            self._holder = threading.get_ident()
            try:
                yield
            finally:
                self._holder = None

    def _begin(self, user_id: UUID | None, read_only: bool) -> psycopg.Connection[DictRow]:
        # One round trip: a UUID needs no quoting, and only a transaction-local setting is safe
        # on a connection that serves one owner after another.
        first = b"BEGIN READ ONLY" if read_only else b"BEGIN"
        if user_id is not None:
            first += f"; SELECT set_config('{_CLAIM}', '{UUID(str(user_id))}', true)".encode()
        kept = self._connection
        if kept is not None and not kept.closed:
            try:
                kept.execute(first)
                return kept
            except (psycopg.Error, OSError):
                self._drop()
        fresh = self._open()
        try:
            fresh.execute(first)
        except psycopg.Error as error:
            self._drop()
            raise translated(error) from error
        return fresh

    def _execute_alone(self, sql: bytes, params: Params) -> psycopg.Cursor[DictRow]:
        kept = self._connection
        if kept is not None and not kept.closed:
            try:
                return kept.execute(sql, params)
            except (psycopg.Error, OSError) as error:
                if not kept.closed and not isinstance(error, _LOST):
                    raise
                self._drop()
        return self._open().execute(sql, params)

    def _open(self) -> psycopg.Connection[DictRow]:
        options = dict(self._options)
        if self._iam:
            options["password"] = _rds_token(options)
        try:
            self._connection = self._connect(
                **options, autocommit=True, prepare_threshold=None, row_factory=dict_row
            )
        except (psycopg.Error, OSError) as error:
            raise Unavailable() from error
        return self._connection

    def _commit(self, connection: psycopg.Connection[DictRow]) -> None:
        if connection.info.transaction_status == TransactionStatus.INERROR:
            self._abandon(connection)
            raise DatabaseError("A failed statement was ignored; nothing was committed.")
        try:
            connection.execute(b"COMMIT")
        except psycopg.Error as error:
            self._abandon(connection)
            raise translated(error) from error

    def _abandon(self, connection: psycopg.Connection[DictRow]) -> None:
        try:
            connection.execute(b"ROLLBACK")
        except (psycopg.Error, OSError):
            self._drop()

    def _drop(self) -> None:
        with suppress(psycopg.Error, OSError):
            self.close()
        self._connection = None


def connection_string(url: str) -> str:
    """What libpq connects with for `url`: an RDS token for the password where `Database` has one.

    For the one tool that connects by itself, the runner of migrations. Good for 15 minutes.
    """
    options = _connection_options(url, "")
    if _wants_token(options):
        options["password"] = _rds_token(options)
    return make_conninfo(**options)


def _connection_options(url: str, application_name: str) -> dict[str, Any]:
    given = {key: value for key, value in conninfo_to_dict(url).items() if value is not None}
    return {
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
        **_NETWORK,
        **({"application_name": application_name} if application_name else {}),
        **given,
    }


def _wants_token(options: Mapping[str, Any]) -> bool:
    return not options.get("password") and str(options.get("host", "")).endswith(_RDS_SUFFIX)


def _rds_token(options: Mapping[str, Any]) -> str:
    """A password that is good for connecting during 15 minutes; made locally, without a call."""
    import boto3  # doors that do not connect by token must not pay for it

    client = cast("Any", boto3).client("rds")
    return client.generate_db_auth_token(
        DBHostname=options["host"], Port=int(options.get("port", 5432)), DBUsername=options["user"]
    )
