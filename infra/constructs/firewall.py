"""The firewall's rules, cheapest first. Its refusals are answered by our own gateway responses."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

REQUESTS_PER_ADDRESS = 3_000
RATE_WINDOW_S = 300

OWN_WORDS_PATHS = ("/message", "/api/v1/personal-context", "/conversations", "/projects")
"""Paths whose bodies are people's own texts: the common rules count there and do not block."""

ONLY_COUNTED = ("SizeRestrictions_BODY", "NoUserAgent_HEADER")
"""The doors allow 256 KiB where this rule allows 8 KiB; an agent need not name its software."""

_Acl = wafv2.CfnWebACL
_Rule = wafv2.CfnWebACL.RuleProperty
_Statement = wafv2.CfnWebACL.StatementProperty


class Firewall(Construct):
    """A regional web ACL: reputation lists, a rate per address, the common rules.

    `own_addresses` are our ways out: the MCP door calls REST for everybody from there, so the rate
    does not count them. The common rules stand twice: blocking outside `OWN_WORDS_PATHS`, counting
    inside.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, name: str, own_addresses: Sequence[str]
    ) -> None:
        super().__init__(scope, construct_id)
        self._own = wafv2.CfnIPSet(
            self,
            "OwnAddresses",
            name=f"{name}-own-addresses",
            scope="REGIONAL",
            ip_address_version="IPV4",
            addresses=[f"{address}/32" for address in own_addresses],
        )
        own_words = _any([_path_starts_with(path) for path in OWN_WORDS_PATHS])
        elsewhere = _not(own_words)
        self.acl = _Acl(
            self,
            "Acl",
            name=name,
            scope="REGIONAL",
            default_action=_Acl.DefaultActionProperty(allow={}),
            visibility_config=_seen("acl"),
            rules=[
                _managed("reputation", 0, "AWSManagedRulesAmazonIpReputationList"),
                self._rate_per_address(1),
                _managed("common", 2, "AWSManagedRulesCommonRuleSet", within=elsewhere),
                _managed(
                    "common-counted",
                    3,
                    "AWSManagedRulesCommonRuleSet",
                    within=own_words,
                    count=True,
                ),
            ],
        )

    def _rate_per_address(self, priority: int) -> _Rule:
        return _Rule(
            name="rate-per-address",
            priority=priority,
            action=_Acl.RuleActionProperty(block={}),
            statement=_Statement(
                rate_based_statement=_Acl.RateBasedStatementProperty(
                    limit=REQUESTS_PER_ADDRESS,
                    evaluation_window_sec=RATE_WINDOW_S,
                    aggregate_key_type="IP",
                    scope_down_statement=_not(
                        _Statement(ip_set_reference_statement={"arn": self._own.attr_arn})
                    ),
                )
            ),
            visibility_config=_seen("rate-per-address"),
        )


def _managed(
    name: str, priority: int, group: str, *, within: _Statement | None = None, count: bool = False
) -> _Rule:
    relaxed = [] if group != "AWSManagedRulesCommonRuleSet" or count else ONLY_COUNTED
    return _Rule(
        name=name,
        priority=priority,
        override_action=_Acl.OverrideActionProperty(**({"count": {}} if count else {"none": {}})),
        statement=_Statement(
            managed_rule_group_statement=_Acl.ManagedRuleGroupStatementProperty(
                vendor_name="AWS",
                name=group,
                scope_down_statement=within,
                rule_action_overrides=[
                    _Acl.RuleActionOverrideProperty(
                        name=rule, action_to_use=_Acl.RuleActionProperty(count={})
                    )
                    for rule in relaxed
                ]
                or None,
            )
        ),
        visibility_config=_seen(name),
    )


def _path_starts_with(path: str) -> _Statement:
    return _Statement(
        byte_match_statement=_Acl.ByteMatchStatementProperty(
            search_string=path,
            positional_constraint="STARTS_WITH",
            field_to_match=_Acl.FieldToMatchProperty(uri_path={}),
            text_transformations=[_Acl.TextTransformationProperty(priority=0, type="NONE")],
        )
    )


def _not(statement: _Statement) -> _Statement:
    return _Statement(not_statement=_Acl.NotStatementProperty(statement=statement))


def _any(statements: list[_Statement]) -> _Statement:
    return _Statement(or_statement=_Acl.OrStatementProperty(statements=statements))


def _seen(name: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    return _Acl.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
