"""`python -m infra.emulator_check`: bootstrap, deploy, deploy again, use, destroy, in the emulator.

`--strict` does it with TLS and with IAM policies evaluated, so that a right that is missing fails
here and not on AWS. `--with` joins a module's `CATALOGUE` to the product's and lets its `walk`
use what was deployed. Prints what each step showed and took; any failure is exit status 1.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import httpx

from infra.checkout import ROOT
from infra.emulator.cdk import Cdk, CdkFailed
from infra.emulator.deployed import Deployed
from infra.emulator.ground import Ground, ground
from infra.emulator.rights import RightsWrong
from infra.emulator.smoke import Smoke, SmokeFailed
from infra.local.children import ChildFailed
from infra.local.gateway.config import catalogue_with
from infra.stacks.names import SERVICE

NO_CHANGES = "(no changes)"
Say = Callable[[str], None]
T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check. The exit status."""
    parser = argparse.ArgumentParser(prog="infra.emulator_check", description=__doc__)
    parser.add_argument("--strict", action="store_true", help="TLS, and IAM policies evaluated")
    parser.add_argument("--with", dest="extra", default="", help="a module with more doors")
    options = parser.parse_args(arguments)
    state = ROOT / ".local" / ("emulator-strict" if options.strict else "emulator")
    try:
        with ground(state, strict=options.strict) as stand:
            check(stand, options.extra, print)
    except (AssertionError, CdkFailed, ChildFailed) as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    return 0


def check(stand: Ground, extra: str, say: Say) -> None:
    """Every step, in order. Raises CdkFailed, SmokeFailed, RightsWrong, what a walk asserts."""
    deployed = Deployed(stand, catalogue_with((extra,) if extra else ()))
    deployed.knows_our_types()
    context = {**stand.context, **({"with": extra} if extra else {})}
    cdk = Cdk(stand.environ, stand.scratch, context)
    _timed(say, "synthesized, cdk-nag included", cdk.synthesize)
    _timed(say, "bootstrapped", cdk.bootstrap)
    _timed(say, "deployed", lambda: cdk.deploy(SERVICE))
    again = _timed(say, "deployed again", lambda: cdk.deploy(SERVICE))
    if NO_CHANGES not in again:
        raise SmokeFailed(f"the second deployment changed something:\n{again[-2000:]}")
    deployed.tell_the_address()
    try:
        _use(stand, deployed, extra, say)
    except (SmokeFailed, RightsWrong, AssertionError) as failure:
        raise SmokeFailed(f"\n{deployed.last_words()}\n{failure}") from failure
    _timed(say, "destroyed", lambda: cdk.destroy(SERVICE))
    left = deployed.left_over()
    if left:
        raise SmokeFailed(f"destroy left something: {left}")


def _use(stand: Ground, deployed: Deployed, extra: str, say: Say) -> None:
    with httpx.Client(base_url=deployed.address, timeout=60) as client:
        _told(say, "used", Smoke.begin(client, stand.issuer).run)
        if extra:
            _told(say, "walked", lambda: importlib.import_module(extra).walk(deployed, client))
    if stand.certificate:
        tried = _timed(say, "rights tried", deployed.try_rights)
        say(f"    {tried} calls were allowed or refused as the catalogue's grants say.")


def _told(say: Say, done: str, step: Callable[[], list[str]]) -> None:
    for shown in _timed(say, done, step):
        say(f"    {shown}")


def _timed(say: Say, done: str, step: Callable[[], T]) -> T:
    begin = time.monotonic()
    result = step()
    say(f"{done}: {time.monotonic() - begin:.1f} s")
    return result


if __name__ == "__main__":
    sys.exit(main())
