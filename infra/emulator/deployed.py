"""The deployed stack as its operator sees it: functions, logs, rights, what is left of it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3

from infra.deployable import DEPLOYABLE
from infra.emulator.rights import check_rights
from infra.local.provision import aws_access
from infra.stacks.names import SERVICE

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Door
    from infra.emulator.ground import Ground

_LAST_EVENTS = 12


class Deployed:
    """One deployment on its ground."""

    def __init__(self, stand: Ground, catalogue: Catalogue):
        self._stand = stand
        self._catalogue = catalogue

    @property
    def address(self) -> str:
        """Where the API is reached."""
        return self._stand.address

    @property
    def database_url(self) -> str:
        """Its Postgres, as the administrator."""
        return self._stand.admin_url

    def aws(self, service: str) -> Any:
        """A client of the emulator."""
        certificate = self._stand.certificate
        access: Any = aws_access(self._stand.endpoint)
        return boto3.client(service, verify=str(certificate) if certificate else None, **access)

    def function(self, door: str) -> str:
        """The name of that door's function."""
        return f"judgment-{door}"

    def knows_our_types(self) -> None:
        """Raises ClientError when the emulator does not make what `infra.deployable` lists."""
        resources = {f"R{n}": {"Type": kind} for n, kind in enumerate(sorted(DEPLOYABLE))}
        template = json.dumps({"Resources": resources})
        self.aws("cloudformation").validate_template(TemplateBody=template)

    def tell_the_address(self) -> None:
        """Point the domain at the API and fill the address in, both known now (ruling 26)."""
        described = self.aws("cloudformation").describe_stacks(StackName=SERVICE)["Stacks"][0]
        outputs = {row["OutputKey"]: row["OutputValue"] for row in described["Outputs"]}
        stage = f"{outputs['ApiId']}/{outputs['StageName']}"
        self._stand.domain.target = f"{self._stand.endpoint}/_aws/execute-api/{stage}"
        known = {"API_URL": self.address, "CONSOLE_ORIGIN": self.address}
        functions = self.aws("lambda")
        for door in self._running():
            if told := {name: value for name, value in known.items() if name in door.required}:
                name = self.function(door.name)
                found = functions.get_function_configuration(FunctionName=name)["Environment"]
                functions.update_function_configuration(
                    FunctionName=name, Environment={"Variables": {**found["Variables"], **told}}
                )

    def try_rights(self) -> int:
        """Every grant with every door's own credentials; how many. Raises RightsWrong."""
        functions, tokens = self.aws("lambda"), self.aws("sts")
        tried = 0
        for door in self._running():
            found = functions.get_function_configuration(FunctionName=self.function(door.name))
            given = tokens.assume_role(RoleArn=found["Role"], RoleSessionName="rights")
            access = {
                "endpoint_url": self._stand.endpoint,
                "region_name": "us-east-1",
                "aws_access_key_id": given["Credentials"]["AccessKeyId"],
                "aws_secret_access_key": given["Credentials"]["SecretAccessKey"],
                "aws_session_token": given["Credentials"]["SessionToken"],
                "verify": str(self._stand.certificate),
            }
            tried += check_rights(door, partial(boto3.client, **access))
        return tried

    def last_words(self) -> str:
        """The end of each door's log."""
        logs = self.aws("logs")
        groups = logs.describe_log_groups(logGroupNamePrefix="/aws/lambda/")["logGroups"]
        said: list[str] = []
        for name in (group["logGroupName"] for group in groups):
            events = logs.filter_log_events(logGroupName=name)["events"]
            said += [f"{name}: {event['message'].rstrip()}" for event in events[-_LAST_EVENTS:]]
        return "\n".join(said)

    def left_over(self) -> list[str]:
        """Names of resources that a destroyed stack left behind."""
        left = [f["FunctionName"] for f in self.aws("lambda").list_functions()["Functions"]]
        left += self.aws("dynamodb").list_tables()["TableNames"]
        left += self.aws("sqs").list_queues().get("QueueUrls", [])
        left += [a["name"] for a in self.aws("apigateway").get_rest_apis()["items"]]
        left += [s["Name"] for s in self.aws("scheduler").list_schedules()["Schedules"]]
        left += [s["Name"] for s in self.aws("secretsmanager").list_secrets()["SecretList"]]
        left += [r["RoleName"] for r in self.aws("iam").list_roles()["Roles"] if _is_ours(r)]
        return left

    def _running(self) -> list[Door]:
        return [door for door in self._catalogue.doors if door.trigger != "deploy"]


def _is_ours(role: dict[str, Any]) -> bool:
    return str(role["RoleName"]).startswith(SERVICE)
