"""The cdk-nag findings we live with, each with its reason. A row that matches nothing is stale.

Nothing is acknowledged for a whole stack: `where` is a regular expression over construct paths.
docs/operator-guide.md lists these rows.
"""

from __future__ import annotations

from dataclasses import dataclass

PACK = "AwsSolutions"
_MANAGED = "Policy::arn:<AWS::Partition>:iam::aws:policy/service-role"


@dataclass(frozen=True)
class Acknowledged:
    """One finding: the rule, the constructs it is accepted for, and why.

    `{name}` in a rule is the deployment's name.
    """

    rule: str
    where: str
    reason: str

    def rule_for(self, name: str) -> str:
        """The rule as a deployment of that name meets it."""
        return self.rule.replace("{name}", name)


ROWS: tuple[Acknowledged, ...] = (
    Acknowledged(
        "L1",
        r"Judgment-(Data|Service)/[A-Za-z]+/Function",
        "Python 3.13 is the newest interpreter that the tests run on; Lambda supports it to 2029.",
    ),
    Acknowledged(
        "L1",
        r"Judgment-Data/AWS679[0-9a-f]+",
        "CDK's own function for the one bootstrap statement; CDK chooses its runtime.",
    ),
    Acknowledged(
        f"IAM4[{_MANAGED}/AWSLambdaBasicExecutionRole]",
        r"Judgment-Data/AWS679[0-9a-f]+/ServiceRole",
        "CDK's own function for the one bootstrap statement; it may only write logs by this.",
    ),
    Acknowledged(
        f"IAM4[{_MANAGED}/AmazonAPIGatewayPushToCloudWatchLogs]",
        r"Judgment-Service/Front/Api/CloudWatchRole",
        "API Gateway refuses an account role that may do less than this policy.",
    ),
    Acknowledged(
        "IAM5[Resource::*]",
        r"Judgment-(Data|Service)/[A-Za-z]+/Role/DefaultPolicy",
        "Network interface calls know no narrower resource; the Lambda service makes them before "
        "our code runs, and the next statement denies them to the code itself.",
    ),
    Acknowledged(
        "IAM5[Resource::arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:"
        "{name}/models/*]",
        r"Judgment-Service/(GuardedMessage|ScenarioGeneration|SummaryRegen)/Role/DefaultPolicy",
        "Keys of models: the operator's, and owners' own, which come and go; the door reads only "
        "the one that the owner it works for has named below their own prefix.",
    ),
    Acknowledged(
        "SMG4",
        r"Judgment-Service/SessionSecret",
        "Signs CSRF tokens of console sessions and opens nothing; rotated by hand as the operator "
        "guide says, at the cost of open console pages.",
    ),
    Acknowledged(
        "APIG2",
        r"Judgment-Service/Front/Api",
        "Requests are validated by the doors with the contract's strict types, whose refusals name "
        "the field in our error form; a second schema in the gateway could only disagree.",
    ),
    Acknowledged(
        "APIG3",
        r"Judgment-Service/Front/Api/DeploymentStage\.live",
        "The web ACL is associated with this stage by the Edge stack; the emulator knows no "
        "association, and Service holds only what it deploys.",
    ),
    Acknowledged(
        "COG4",
        r"Judgment-Service/Front/Api/Default",
        "Callers are known by agent keys and by any OIDC issuer's tokens, checked by our "
        "authorizer on every call; Cognito is not part of this product.",
    ),
    Acknowledged(
        "DDB3",
        r"Judgment-Service/[A-Za-z]*RateLimits",
        "Counters of the current hour; two hours later there is nothing to restore.",
    ),
)
OPEN_ROUTE = Acknowledged(
    "APIG4",
    r"Judgment-Service/Front/Api/Default(/.*)?",
    "A route of the catalogue with auth `none`: health, the public skill, 404, and 405 on /mcp.",
)
