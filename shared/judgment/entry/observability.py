"""What one door says: JSON log lines, redacted, with their request's correlation id; and metrics.

Metric names are the constants below: alarms in `infra` are built from them. Metrics are EMF with
the door as their one dimension; ids of people never become one.
"""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, TextIO

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from judgment.kit.redaction import redact

NAMESPACE = "Judgment"

CREDENTIAL_REJECTED = "CredentialRejected"
RATE_LIMITED = "RateLimited"
RATE_LIMITER_UNAVAILABLE = "RateLimiterUnavailable"
UNAVAILABLE = "Unavailable"
INTERNAL_ERROR = "InternalError"
MESSAGE_FAILED = "MessageFailed"
TASK_FAILED = "TaskFailed"
OUTBOX_WAITING = "OutboxWaiting"
SUMMARY_WRITTEN = "SummaryWritten"
SUMMARY_FELL_BACK = "SummaryFellBack"
SUMMARY_OVERDUE = "SummaryOverdue"
SCENARIO_FELL_BACK = "ScenarioFellBack"


class _RedactedFormatter(LambdaPowertoolsFormatter):
    def serialize(self, log: dict[str, Any]) -> str:  # type: ignore[override]
        """The line as JSON, passed through `redact`; half a character must not cost the line."""
        line = redact(super().serialize(log))
        return line.encode("utf-8", "backslashreplace").decode()


class _StandardOutput(logging.StreamHandler[TextIO]):
    """Writes to whatever standard output is at that moment, not when the logger was made."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        """The standard output of now."""
        return sys.stdout


class Telemetry:
    """What a door says about itself, on standard output, where CloudWatch reads it."""

    def __init__(self, door: str):
        self._logger = Logger(
            service=door,
            level="INFO",
            logger_formatter=_RedactedFormatter(),
            logger_handler=_StandardOutput(),
            use_rfc3339=True,
        )
        self._metrics = EphemeralMetrics(namespace=NAMESPACE, service=door)
        self._counted = False

    def info(self, message: str, **fields: Any) -> None:
        """One line at INFO. `fields` are ids, counts and codes, never bodies or credentials."""
        self._logger.info(message, extra=fields)

    def warning(self, message: str, **fields: Any) -> None:
        """One line at WARNING."""
        self._logger.warning(message, extra=fields)

    def failure(self, message: str, error: BaseException, **fields: Any) -> None:
        """One line at ERROR with the error's type, text and stack, redacted."""
        self._logger.error(
            message,
            extra={
                **fields,
                "error_type": type(error).__name__,
                "error": str(error)[:2000],
                "stack": "".join(traceback.format_tb(error.__traceback__))[-8000:],
            },
        )

    def count(self, metric: str, value: int = 1) -> None:
        """Add to a counter; it is written by `flush`."""
        self._metrics.add_metric(name=metric, unit=MetricUnit.Count, value=value)
        self._counted = True

    def flush(self) -> None:
        """Write the counters of this invocation, if there are any."""
        if self._counted:
            self._counted = False
            self._metrics.flush_metrics()
