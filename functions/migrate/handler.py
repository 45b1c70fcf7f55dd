"""The runner, and then the loader of the library; what either raises fails the deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from functions.migrate.wiring import wire
from judgment.db.migrate import MigrationReport, migrate
from judgment.entry.opening import LambdaHandler, opened_on_first_call
from judgment.scenarios.loading import LoadCounts, load_into

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
        try:
            counts = load_into(address())
        except Exception as error:  # logged here, then the deployment's
            telemetry.failure("library", error)
            raise
        telemetry.info(str(counts))
        return _told(report, counts)

    return run


def _told(report: MigrationReport, counts: LoadCounts) -> dict[str, Any]:
    return {
        "applied": list(report.applied),
        "already": report.already,
        "library": asdict(counts),
    }


handler = opened_on_first_call(lambda: build(*wire()))
