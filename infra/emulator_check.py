"""`python -m infra.emulator_check`: bootstrap, deploy, deploy again, use, destroy, in the emulator.

`--strict` does it with TLS and with IAM policies evaluated, so that a right that is missing fails
here and not on AWS. Prints what each step showed and took; any failure is exit status 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import boto3
import httpx

from infra.catalogue import CATALOGUE
from infra.deployable import DEPLOYABLE
from infra.emulator.cdk import Cdk, CdkFailed
from infra.emulator.ground import Ground, ground
from infra.emulator.rights import RightsWrong, check_rights
from infra.emulator.smoke import Smoke, SmokeFailed
from infra.local.children import ChildFailed
from infra.local.provision import aws_access
from infra.stacks.names import SERVICE
from infra.staging import ROOT

NO_CHANGES = "(no changes)"
T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check. The exit status."""
    parser = argparse.ArgumentParser(prog="infra.emulator_check", description=__doc__)
    parser.add_argument("--strict", action="store_true", help="TLS, and IAM policies evaluated")
    options = parser.parse_args(arguments)
    state = ROOT / ".local" / ("emulator-strict" if options.strict else "emulator")
    try:
        with ground(state, strict=options.strict) as stand:
            check(stand, print)
    except (CdkFailed, SmokeFailed, RightsWrong, ChildFailed) as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    return 0


def check(stand: Ground, say: Callable[[str], None]) -> None:
    """Every step, in order. Raises CdkFailed, SmokeFailed, RightsWrong."""
    _knows_our_types(stand)
    cdk = Cdk(stand.environ, stand.scratch, stand.context)
    _timed(say, "synthesized, cdk-nag included", cdk.synthesize)
    _timed(say, "bootstrapped", cdk.bootstrap)
    _timed(say, "deployed", lambda: cdk.deploy(SERVICE))
    again = _timed(say, "deployed again", lambda: cdk.deploy(SERVICE))
    if NO_CHANGES not in again:
        raise SmokeFailed(f"the second deployment changed something:\n{again[-2000:]}")
    _tell_the_address(stand)
    for shown in _timed(say, "used", lambda: _use(stand)):
        say(f"    {shown}")
    if stand.certificate:
        tried = _timed(say, "rights tried", lambda: _try_rights(stand))
        say(f"    {tried} calls were allowed or refused as the catalogue's grants say.")
    _timed(say, "destroyed", lambda: cdk.destroy(SERVICE))
    left = _left_over(stand)
    if left:
        raise SmokeFailed(f"destroy left something: {left}")


def _use(stand: Ground) -> list[str]:
    with httpx.Client(base_url=stand.address, timeout=60) as client:
        try:
            return Smoke.begin(client, stand.issuer).run()
        except SmokeFailed as failure:
            raise SmokeFailed(f"\n{_last_words(stand)}\n{failure}") from failure


def _try_rights(stand: Ground) -> int:
    functions, tokens = _client(stand, "lambda"), _client(stand, "sts")
    tried = 0
    for door in CATALOGUE.doors:
        if door.trigger == "deploy":
            continue
        role = functions.get_function_configuration(FunctionName=f"judgment-{door.name}")["Role"]
        given = tokens.assume_role(RoleArn=role, RoleSessionName="rights")["Credentials"]
        access = {
            "endpoint_url": stand.endpoint,
            "region_name": "us-east-1",
            "aws_access_key_id": given["AccessKeyId"],
            "aws_secret_access_key": given["SecretAccessKey"],
            "aws_session_token": given["SessionToken"],
            "verify": str(stand.certificate),
        }
        tried += check_rights(door, partial(boto3.client, **access))
    return tried


def _last_words(stand: Ground) -> str:
    """The end of each door's log."""
    logs = _client(stand, "logs")
    groups = logs.describe_log_groups(logGroupNamePrefix="/aws/lambda/")["logGroups"]
    said: list[str] = []
    for name in (group["logGroupName"] for group in groups):
        events = logs.filter_log_events(logGroupName=name)["events"]
        said += [f"{name}: {event['message'].rstrip()}" for event in events[-12:]]
    return "\n".join(said)


def _knows_our_types(stand: Ground) -> None:
    """The list that the template tests hold Service against is the emulator's own."""
    resources = {f"R{n}": {"Type": kind} for n, kind in enumerate(sorted(DEPLOYABLE))}
    template = json.dumps({"Resources": resources})
    _client(stand, "cloudformation").validate_template(TemplateBody=template)


def _tell_the_address(stand: Ground) -> None:
    """Point the domain at the API and fill the address in, both known now (ruling 26)."""
    described = _client(stand, "cloudformation").describe_stacks(StackName=SERVICE)["Stacks"][0]
    outputs = {row["OutputKey"]: row["OutputValue"] for row in described["Outputs"]}
    stage = f"{outputs['ApiId']}/{outputs['StageName']}"
    stand.domain.target = f"{stand.endpoint}/_aws/execute-api/{stage}"
    known = {"API_URL": stand.address, "CONSOLE_ORIGIN": stand.address}
    functions = _client(stand, "lambda")
    for door in CATALOGUE.doors:
        told = {name: value for name, value in known.items() if name in door.settings}
        if told and door.trigger != "deploy":
            name = f"judgment-{door.name}"
            found = functions.get_function_configuration(FunctionName=name)["Environment"]
            functions.update_function_configuration(
                FunctionName=name, Environment={"Variables": {**found["Variables"], **told}}
            )


def _left_over(stand: Ground) -> list[str]:
    left = [f["FunctionName"] for f in _client(stand, "lambda").list_functions()["Functions"]]
    left += _client(stand, "dynamodb").list_tables()["TableNames"]
    left += _client(stand, "sqs").list_queues().get("QueueUrls", [])
    left += [a["name"] for a in _client(stand, "apigateway").get_rest_apis()["items"]]
    left += [s["Name"] for s in _client(stand, "scheduler").list_schedules()["Schedules"]]
    left += [s["Name"] for s in _client(stand, "secretsmanager").list_secrets()["SecretList"]]
    return left


def _client(stand: Ground, service: str) -> Any:
    verify = str(stand.certificate) if stand.certificate else None
    access: Any = aws_access(stand.endpoint)
    return boto3.client(service, verify=verify, **access)


def _timed(say: Callable[[str], None], done: str, step: Callable[[], T]) -> T:
    begin = time.monotonic()
    result = step()
    say(f"{done}: {time.monotonic() - begin:.1f} s")
    return result


if __name__ == "__main__":
    sys.exit(main())
