"""What happens behind the answer: queues with their dead letters, rules, schedules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import Aws, Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.catalogue import VISIBILITY_PER_TIMEOUT
from infra.constructs.door import DoorFunction, logical_name

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Queue, Rule, Schedule

DEAD_LETTERS_KEPT = Duration.days(14)
RULE_RETRIES_FOR = Duration.hours(24)
_SHORTEST_EVENT_AGE_S = 60
_LONGEST_EVENT_AGE_S = 86_400


@dataclass(frozen=True)
class QueuePair:
    """A queue and where its poison goes."""

    row: Queue
    queue: sqs.Queue
    dead_letters: sqs.Queue


class AsyncWork(Construct):
    """The bus and the queues of a catalogue; `connect` joins them to the doors once those exist.

    A message is hidden for six times the consumer's timeout, and one failed record returns
    alone. A rule that cannot deliver puts the event among its queue's dead letters.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, prefix: str, catalogue: Catalogue
    ) -> None:
        super().__init__(scope, construct_id)
        self._prefix = prefix
        self._catalogue = catalogue
        self.bus = events.EventBus(self, "Bus", event_bus_name=prefix)
        self.queues = {row.name: self._pair(row) for row in catalogue.queues}
        for rule in catalogue.rules:
            self._route(rule)

    def connect(self, doors: Mapping[str, DoorFunction]) -> None:
        """Let each queue feed its consumer and each schedule tick its door."""
        for pair in self.queues.values():
            batched = (
                {"max_batching_window": Duration.seconds(1)} if pair.row.batch_size > 10 else {}
            )
            doors[pair.row.consumer].function.add_event_source(
                sources.SqsEventSource(
                    pair.queue,
                    batch_size=pair.row.batch_size,
                    max_concurrency=pair.row.max_concurrency,
                    report_batch_item_failures=True,
                    **batched,
                )
            )
        for row in self._catalogue.schedules:
            self._tick(row, doors[row.door])

    def _pair(self, row: Queue) -> QueuePair:
        timeout = self._catalogue.door(row.consumer).timeout_s
        dead_letters = sqs.Queue(
            self,
            f"{logical_name(row.name)}DeadLetters",
            queue_name=f"{self._prefix}-{row.name}-dead-letters",
            retention_period=DEAD_LETTERS_KEPT,
            enforce_ssl=True,
        )
        queue = sqs.Queue(
            self,
            logical_name(row.name),
            queue_name=f"{self._prefix}-{row.name}",
            visibility_timeout=Duration.seconds(timeout * VISIBILITY_PER_TIMEOUT),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=dead_letters, max_receive_count=row.max_receive_count
            ),
            enforce_ssl=True,
        )
        return QueuePair(row, queue, dead_letters)

    def _route(self, row: Rule) -> None:
        pair = self.queues[row.queue]
        events.Rule(
            self,
            f"{logical_name(row.name)}Rule",
            rule_name=f"{self._prefix}-{row.name}",
            event_bus=self.bus,
            event_pattern=events.EventPattern(source=[row.source], detail_type=list(row.types)),
            targets=[
                targets.SqsQueue(
                    pair.queue, dead_letter_queue=pair.dead_letters, max_event_age=RULE_RETRIES_FOR
                )
            ],
        )

    def _tick(self, row: Schedule, door: DoorFunction) -> None:
        """A missed tick is not repeated after its next one is due."""
        role = iam.Role(
            self,
            f"{logical_name(row.name)}TickRole",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description=f"Lets the schedule {row.name} invoke {row.door}.",
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"], resources=[door.function.function_arn]
            )
        )
        age = min(max(row.every_minutes * 60, _SHORTEST_EVENT_AGE_S), _LONGEST_EVENT_AGE_S)
        schedule = scheduler.CfnSchedule(
            self,
            f"{logical_name(row.name)}Tick",
            name=f"{self._prefix}-{row.name}",
            schedule_expression=_rate(row.every_minutes),
            flexible_time_window={"mode": "OFF"},
            target=scheduler.CfnSchedule.TargetProperty(
                arn=door.function.function_arn,
                role_arn=role.role_arn,
                input=json.dumps({"task": row.task}),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=age, maximum_retry_attempts=2
                ),
            ),
        )
        schedule.node.add_dependency(role)


def _rate(minutes: int) -> str:
    return f"rate({minutes} minute{'' if minutes == 1 else 's'})"
