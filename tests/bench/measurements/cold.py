"""What a fresh environment pays: the import of a read door, and the memory it then stands in."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.bench.measurements.events import authorized_event
from tests.bench.report import Budget, Section, Table, missed
from tests.bench.rounds import Case, interleave
from tests.bench.series import Series, difference, ratio
from tests.bench.workbench import BenchFailed

if TYPE_CHECKING:
    from tests.bench.workbench import Workbench

LIMIT = 1.3
MEMORY_LIMIT_MB = 128

BARE = "pass"
PARTS = """
from aws_lambda_powertools.event_handler import APIGatewayRestResolver
import boto3, psycopg, pydantic
boto3.client("dynamodb", region_name="us-east-1")
"""
DOOR = """
from functions.profile_read.handler import build
from functions.profile_read.wiring import wire
build(*wire())
"""
READING = """
import json, sys
from pathlib import Path
from functions.profile_read.handler import handler
event = json.load(sys.stdin)
for _ in range(300):
    answer = handler(event, None)
    assert answer["statusCode"] == 200, answer
status = Path("/proc/self/status").read_text()
print(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
"""


def measure(bench: Workbench) -> Section:
    """Fresh interpreters in turn; their CPU as the kernel accounts it, less a bare start."""
    environment = bench.door_environment("profile_read")

    def starting(program: str) -> None:
        subprocess.run([sys.executable, "-c", program], env=environment, cwd=bench.root, check=True)

    programs = {"bare interpreter": BARE, "its libraries alone": PARTS, "the read door": DOOR}
    cases = [
        Case(name, lambda program=program: starting(program), calls=1)
        for name, program in programs.items()
    ]
    found = interleave(cases, bench.rounds, cpu=_children_cpu)
    bare, parts, door = (found[name] for name in programs)
    over = ratio(_net(door, bare), _net(parts, bare))
    peak = _peak_memory_mb(environment, bench)
    budgets = (
        Budget(
            "cold import of a read door over its libraries alone",
            f"≤ {LIMIT} x",
            f"{over.middle:.2f} x ({over.low:.2f}-{over.high:.2f})",
            over.middle <= LIMIT,
        ),
        Budget(
            "peak memory of a read door",
            f"≤ {MEMORY_LIMIT_MB} MB",
            f"{peak:.0f} MB",
            peak <= MEMORY_LIMIT_MB,
        ),
    )
    why = {"What its import loads": _import_times(environment, bench)} if missed(budgets) else {}
    return Section(
        "Cold start and memory of a read door",
        "Fresh interpreters with warm byte code, one after the other in turn. The door is imported "
        "and wired (its clients are made, nothing is connected). CPU is user plus system time; the "
        "ratio is taken after the bare interpreter's own start is subtracted.",
        tables=(
            Table(
                ("start of", "CPU ms", "wall ms", "CPU ms over bare"),
                tuple(
                    (name, f"{found[name].cpu:.0f}", f"{found[name].wall:.0f}", _over(found, name))
                    for name in programs
                ),
            ),
            Table(
                ("peak memory of the read door after 300 reads", "MB"), (("VmHWM", f"{peak:.0f}"),)
            ),
        ),
        budgets=budgets,
        profiles=why,
    )


def _import_times(environment: dict[str, str], bench: Workbench) -> str:
    """The modules whose own import costs most, as the interpreter times them."""
    command = [sys.executable, "-X", "importtime", "-c", DOOR]
    options = {"env": environment, "cwd": bench.root, "capture_output": True, "text": True}
    said = subprocess.run(command, check=True, **options).stderr.splitlines()
    rows = [line.removeprefix("import time:").split("|") for line in said if "|" in line]
    numbered = [(int(own), name.strip()) for own, _, name in rows if own.strip().isdigit()]
    costly = sorted(numbered, reverse=True)[:30]
    return "\n".join(["  own us  module", *(f"{own:8}  {name}" for own, name in costly)])


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _net(series: Series, bare: Series) -> list[float]:
    return [one - other for one, other in zip(series.cpu_ms, bare.cpu_ms, strict=True)]


def _over(found: dict[str, Series], name: str) -> str:
    return f"{difference(found[name].cpu_ms, found['bare interpreter'].cpu_ms).middle:.0f}"


def _peak_memory_mb(environment: dict[str, str], bench: Workbench) -> float:
    """What the kernel says a fresh process stood in at most, after 300 reads."""
    event = authorized_event(bench)
    done = subprocess.run(
        [sys.executable, "-c", READING],
        input=json.dumps(event),
        env=environment,
        cwd=bench.root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchFailed(f"{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return int(done.stdout.split()[-1]) / 1024
