"""What the database may say, in our words; stores never see the driver's types.

Outages become `kit.errors.Unavailable` (503) and values that Postgres cannot hold
`UnstorableValue` (400). The rest is a defect unless a store expects it, which is why each kind
that a store might expect has a class:

DatabaseError
├── ConstraintViolated      with the constraint's and the table's name
│   ├── UniqueViolated
│   ├── ForeignKeyViolated
│   └── CheckViolated       check and not-null
└── PermissionDenied        a grant or a row policy refused
"""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from judgment.kit.errors import InvalidRequest, Unavailable


class DatabaseError(Exception):
    """A statement failed for a reason that trying again will not change."""


class ConstraintViolated(DatabaseError):
    """A constraint refused a row; `constraint` and `table` are empty when the server names none."""

    def __init__(self, message: str, constraint: str, table: str):
        super().__init__(message)
        self.constraint = constraint
        self.table = table


class UniqueViolated(ConstraintViolated):
    """There is such a row already."""


class ForeignKeyViolated(ConstraintViolated):
    """The row that this one points to is not there, or is still pointed to."""


class CheckViolated(ConstraintViolated):
    """A value is out of its column's range, or missing where one is required."""


class PermissionDenied(DatabaseError):
    """The role may not do this, or a row policy refused the row."""


class UnstorableValue(InvalidRequest):
    """A value that Postgres cannot hold: a NUL character, half a surrogate pair, out of range."""

    default = "A value holds characters or a number that cannot be stored."


_CONSTRAINTS: tuple[tuple[type[psycopg.Error], type[ConstraintViolated]], ...] = (
    (pg.UniqueViolation, UniqueViolated),
    (pg.ExclusionViolation, UniqueViolated),
    (pg.ForeignKeyViolation, ForeignKeyViolated),
    (pg.IntegrityError, CheckViolated),
)
_OUTAGES = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    pg.IdleInTransactionSessionTimeout,
    pg.TransactionTimeout,
    # A writer that became a reader in a failover; a write in a read-only transaction of ours is
    # the other cause, and the transaction tells that one apart.
    pg.ReadOnlySqlTransaction,
)
_UNSTORABLE = (
    pg.CharacterNotInRepertoire,
    pg.UntranslatableCharacter,
    pg.NumericValueOutOfRange,
    pg.DatetimeFieldOverflow,
    pg.InvalidTextRepresentation,
    pg.StringDataRightTruncation,
    pg.ProgramLimitExceeded,
)


def translated(error: psycopg.Error | UnicodeError) -> Exception:
    """Our exception for the driver's; the caller raises it `from` the original."""
    if isinstance(error, (UnicodeError, *_UNSTORABLE)):
        return UnstorableValue()
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:
        return UnstorableValue()  # refused by the driver before it was sent: a NUL character
    if isinstance(error, _OUTAGES):
        return Unavailable()
    if isinstance(error, pg.InsufficientPrivilege):
        return PermissionDenied(_words_of(error))
    for theirs, ours in _CONSTRAINTS:
        if isinstance(error, theirs):
            named = error.diag
            return ours(_words_of(error), named.constraint_name or "", named.table_name or "")
    return DatabaseError(_words_of(error))


def _words_of(error: psycopg.Error) -> str:
    """The server's one line; its detail quotes the row, which is an owner's text, and is logged."""
    return error.diag.message_primary or type(error).__name__
