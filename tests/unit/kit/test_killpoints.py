"""A kill point kills by SIGKILL in the process that armed it, and nowhere else."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT, python_files

CHILD = """
from judgment.kit import killpoints
{arm}
print("before", flush=True)
killpoints.reach("a.point")
print("after", flush=True)
"""


def child(arm: str) -> subprocess.CompletedProcess[str]:
    """Runs a process that reaches `a.point` after doing `arm`."""
    code = CHILD.format(arm=arm)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.promise("P1-1-killpoints")
def test_an_armed_point_kills_the_process_at_once() -> None:
    done = child('killpoints.arm("another.point", "a.point")')
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == "before\n"


@pytest.mark.promise("P1-1-killpoints")
@pytest.mark.parametrize("arm", ["", 'killpoints.arm("another.point")'])
def test_a_point_that_nobody_armed_does_nothing(arm: str) -> None:
    done = child(arm)
    assert (done.returncode, done.stdout) == (0, "before\nafter\n")


@pytest.mark.promise("P1-1-killpoints")
def test_nothing_from_outside_can_arm_a_deployment() -> None:
    source = (ROOT / "shared/judgment/kit/killpoints.py").read_text(encoding="utf-8")
    assert not re.search(r"os\.environ|getenv", source)
    armed = [
        path
        for path in python_files("shared", "functions", "infra")
        if re.search(r"killpoints\.arm\(|import arm\b", path.read_text(encoding="utf-8"))
    ]
    assert armed == []


@pytest.mark.promise("P1-1-killpoints")
def test_the_points_around_sending_an_event_are_reached_by_name() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in python_files("shared/judgment"))
    points = re.findall(r"\breach\(\s*\"([a-z_.]+)\"", text)
    assert {"outbox.before_commit", "outbox.after_commit", "outbox.after_send"} <= set(points)
    assert all("." in point for point in points)
