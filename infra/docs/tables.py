"""Every table a page may ask for, each made from the table of the code that it describes."""

from __future__ import annotations

from collections.abc import Callable

from infra.docs import data_tables, deploy_tables, door_tables, house_tables

TABLES: dict[str, Callable[[], str]] = {
    **data_tables.TABLES,
    **deploy_tables.TABLES,
    **door_tables.TABLES,
    **house_tables.TABLES,
}
