"""Tables of the database: migrations, roles, and the inventory of owner data; and the signals."""

from __future__ import annotations

import re

from infra.checkout import ROOT
from infra.docs.markdown import code, table
from judgment.db.inventory import EXEMPT, INVENTORY, OwnerTable
from judgment.db.roles import ROLES
from judgment.profile.signals import SIGNALS


def _migrations() -> str:
    folder = ROOT / "shared/judgment/db/migrations"
    return table(
        ("Migration", "Why"),
        ((f"`{p.stem}`", _why(p.read_text())) for p in sorted(folder.glob("*.sql"))),
    )


def _why(sql: str) -> str:
    """The first paragraph of the comment at the top of a migration."""
    comment = re.match(r"(?:--[^\n]*\n)+", sql)
    lines = [
        line.removeprefix("--").strip() for line in (comment[0] if comment else "").splitlines()
    ]
    return " ".join(lines[: lines.index("")] if "" in lines else lines)


def _roles() -> str:
    return table(
        ("Role", "Does", "Logs in", "Changes", "Calls", "Reaches past its owner's rows"),
        (
            (
                f"`{role.name}`",
                role.purpose,
                "yes" if role.logs_in else "no",
                code(role.writes),
                code(role.calls),
                " ".join(f"`{name}`: {why}" for name, why in role.crosses.items()),
            )
            for role in ROLES
        ),
    )


def _erased(of: OwnerTable) -> str:
    if not of.of_sync:
        return "the row"
    return f"the row; in a Sync app's table {code(of.ours_on_sync) or 'nothing'}"


def _inventory() -> str:
    return table(
        ("Table", "Owner column", "Exported", "Withheld", "Erased"),
        (
            (
                f"`{t.name}`",
                f"`{t.owner}`",
                "every column" if t.columns == ("*",) else code(t.columns),
                " ".join(f"`{column}`: {why}" for column, why in t.withheld.items()),
                _erased(t),
            )
            for t in INVENTORY
        ),
    )


def _exempt() -> str:
    return table(
        ("Table", "Why it is not in the inventory"), ((f"`{n}`", w) for n, w in EXEMPT.items())
    )


def _signals() -> str:
    return table(
        (
            "Signal",
            "Describes",
            "Computed from",
            "Formula",
            "Components, 0 to 1",
            "Shrinkage",
            "Moves by",
            "Source",
        ),
        (
            (
                f"`{s.name}`",
                s.description,
                s.inputs,
                s.formula,
                "; ".join(f"`{c.name}`: {c.meaning}" for c in s.components),
                s.shrinkage,
                s.stimulus,
                s.source,
            )
            for s in SIGNALS
        ),
    )


TABLES = {
    "exempt": _exempt,
    "inventory": _inventory,
    "migrations": _migrations,
    "roles": _roles,
    "signals": _signals,
}
