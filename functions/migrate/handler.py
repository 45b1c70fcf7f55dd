"""One call of the runner; what it raises fails the deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from functions.migrate.wiring import wire
from judgment.db.migrate import MigrationReport, migrate
from judgment.entry.opening import LambdaHandler, opened_on_first_call

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry


def build(address: Callable[[], str], telemetry: Telemetry) -> LambdaHandler:
    """The door over these parts; `address` gives a fresh connection string for each run."""

    def run(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        try:
            report = migrate(address(), log=telemetry.info)
        except Exception as error:  # logged here, then the deployment's
            telemetry.failure("migration", error)
            raise
        return _told(report)

    return run


def _told(report: MigrationReport) -> dict[str, Any]:
    return {"applied": list(report.applied), "already": report.already}


handler = opened_on_first_call(lambda: build(*wire()))
