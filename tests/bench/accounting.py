"""CPU by process of the stack, as the kernel accounts it: a figure that other load cannot move."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_by_part(call: Callable[[], object], times: int, root: int) -> dict[str, float]:
    """CPU milliseconds of one call in each part below the process `root`, largest first.

    Linux only; empty elsewhere. `times` calls are made, enough for clock ticks of 10 ms.
    """
    if not PROC.is_dir():
        return {}
    before = _spent(root)
    for _ in range(times):
        call()
    after = _spent(root)
    used: Counter[str] = Counter()
    for pid, (part, ticks) in after.items():
        used[part] += ticks - before.get(pid, (part, 0))[1]
    return {part: 1e3 * ticks / TICKS / times for part, ticks in used.most_common() if ticks}


def memory_mb(root: int) -> float:
    """Proportional set size of all living descendants of `root`, MB: what is shared counts once."""
    total = 0
    for pid in _spent(root):
        try:
            lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except OSError:  # it ended while we looked
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def rendered(parts: Mapping[str, float]) -> str:
    """The parts as lines, with their sum."""
    lines = [f"{used:8.2f}  {part}" for part, used in parts.items()]
    return "\n".join(["  CPU ms  part", *lines, f"{sum(parts.values()):8.2f}  together"])


def _spent(root: int) -> dict[int, tuple[str, int]]:
    """Part and clock ticks of every living descendant of `root`."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        pid = int(folder.name)
        parents[pid] = int(fields[1])
        ticks[pid] = int(fields[11]) + int(fields[12])
    return {pid: (_part(pid), ticks[pid]) for pid in ticks if _descends(pid, root, parents)}


def _descends(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def _part(pid: int) -> str:
    """What a process is: a door by its name, else Postgres, the gateway, or the emulator."""
    try:
        command = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        environment = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return "ended"
    for variable in environment:
        if variable.startswith(b"AWS_LAMBDA_FUNCTION_NAME="):
            return "door " + variable.partition(b"=")[2].decode().removeprefix("judgment-")
    for word, part in (("postgres", "Postgres"), ("gateway", "gateway"), ("ministack", "emulator")):
        if word in command:
            return part
    return "supervisor"
