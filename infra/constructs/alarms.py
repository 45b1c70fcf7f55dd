"""Alarms that each mean something is to be done; docs/runbooks says what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Aws, Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.constructs.door import DoorFunction, logical_name
from judgment.entry.observability import (
    INTERNAL_ERROR,
    NAMESPACE,
    OUTBOX_WAITING,
    RATE_LIMITER_UNAVAILABLE,
    SUMMARY_OVERDUE,
    UNAVAILABLE,
)

if TYPE_CHECKING:
    from infra.constructs.async_work import QueuePair

PERIOD = Duration.minutes(5)
SLOW_SHARE_OF_TIMEOUT = 0.8
GATEWAY_SLOW_MS = 3_000
OLDEST_MESSAGE_TIMEOUTS = 30
UNAVAILABLE_PER_PERIOD = 5
OUTBOX_PERIODS = 3
LETS_PASS = ("judgment_reader", "judgment_preferences")
"""Roles of the doors that serve agents uncounted while the limiter is down."""
REFUSALS_LEFT_OUT = '"[ERROR]" -"Exception: Unauthorized"'


class Alarms(Construct):
    """One topic, and alarms that report to it. Missing data is never a reason to wake anybody."""

    def __init__(
        self, scope: Construct, construct_id: str, *, prefix: str, email: str = ""
    ) -> None:
        super().__init__(scope, construct_id)
        self._prefix = prefix
        self.topic = sns.Topic(self, "Topic", topic_name=f"{prefix}-alarms", enforce_ssl=True)
        # A policy of one's own (here: TLS only) replaces the default that lets alarms publish.
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        if email:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))

    def watch_door(self, door: DoorFunction) -> None:
        """Errors, 500 answers, throttles, and a p99 near the timeout.

        A door that answers 500 raises nothing, so its own count is watched beside Lambda's. The
        authorizer raises for a wrong key, because API Gateway knows no other 401; what counts
        there is every other uncaught error of its log.
        """
        row, name = door.door, door.door.name
        errors = door.function.metric_errors(period=PERIOD)
        if row.trigger == "authorizer":
            errors = self._uncaught(door)
        self.watch(f"{name}-errors", errors, 1, f"{name} raised an error or ran out of time.")
        self.watch(
            f"{name}-internal-errors",
            _counted(INTERNAL_ERROR, name),
            1,
            f"{name} met an error it did not expect: find its stack by correlation id.",
        )
        self.watch(
            f"{name}-throttles",
            door.function.metric_throttles(period=PERIOD),
            1,
            f"{name} was throttled: the account's Lambda concurrency is used up.",
        )
        self.watch(
            f"{name}-slow",
            door.function.metric_duration(period=PERIOD, statistic="p99"),
            row.timeout_s * 1000 * SLOW_SHARE_OF_TIMEOUT,
            f"{name}: p99 is above {SLOW_SHARE_OF_TIMEOUT:.0%} of its {row.timeout_s} s timeout.",
        )
        if "RATE_LIMIT_TABLE" in row.settings and row.database_role in LETS_PASS:
            self.watch(
                f"{name}-rate-limiter-down",
                _counted(RATE_LIMITER_UNAVAILABLE, name),
                1,
                f"{name} served agents without counting them: DynamoDB did not answer.",
            )
        if "events:put" in row.grants and row.trigger == "schedule":
            self.watch(
                f"{name}-outbox-waiting",
                _counted(OUTBOX_WAITING, name),
                1,
                f"{name} leaves events unsent sweep after sweep: the bus refuses them.",
                periods=OUTBOX_PERIODS,
            )
        if "summary" in row.sends and row.trigger == "schedule":
            self.watch(
                f"{name}-summaries-overdue",
                _counted(SUMMARY_OVERDUE, name),
                1,
                f"{name} wakes summaries again sweep after sweep: nobody writes them.",
                periods=OUTBOX_PERIODS,
            )
        if row.database_role and row.trigger == "http":
            self.watch(
                f"{name}-unavailable",
                _counted(UNAVAILABLE, name),
                UNAVAILABLE_PER_PERIOD,
                f"{name} answered 503: Postgres, or another part it needs, did not answer.",
            )

    def _uncaught(self, door: DoorFunction) -> cloudwatch.Metric:
        metric = f"{door.door.name}-uncaught"
        found = door.log_group.add_metric_filter(
            "Uncaught",
            filter_pattern=logs.FilterPattern.literal(REFUSALS_LEFT_OUT),
            metric_namespace=NAMESPACE,
            metric_name=metric,
            metric_value="1",
        )
        return found.metric(statistic="Sum", period=PERIOD)

    def watch_queue(self, pair: QueuePair, consumer_timeout_s: int) -> None:
        """Any dead letter, and a message that waits too long."""
        name = pair.row.name
        self.watch(
            f"{name}-dead-letters",
            pair.dead_letters.metric_approximate_number_of_messages_visible(
                period=PERIOD, statistic="Maximum"
            ),
            1,
            f"{name} has dead letters: see the runbook of that name.",
        )
        self.watch(
            f"{name}-old",
            pair.queue.metric_approximate_age_of_oldest_message(period=PERIOD),
            consumer_timeout_s * OLDEST_MESSAGE_TIMEOUTS,
            f"{name}: messages wait too long; is its consumer throttled or failing?",
        )

    def watch_api(self, api: apigateway.RestApi) -> None:
        """Server errors as callers see them, and the p99 over all routes."""
        self.watch("api-5xx", api.metric_server_error(period=PERIOD), 5, "Callers got 5xx answers.")
        self.watch(
            "api-slow",
            api.metric_latency(period=PERIOD, statistic="p99"),
            GATEWAY_SLOW_MS,
            "Callers wait: p99 latency over all routes.",
            periods=3,
        )

    def watch(
        self, name: str, metric: cloudwatch.IMetric, threshold: float, text: str, periods: int = 1
    ) -> None:
        """A metric that is at or above a threshold for that many periods."""
        alarm = cloudwatch.Alarm(
            self,
            logical_name(name),
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=text,
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))


def _counted(metric: str, door: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=metric,
        dimensions_map={"service": door},
        statistic="Sum",
        period=PERIOD,
    )
