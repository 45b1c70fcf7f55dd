"""The machine in the only terms that belong in a table: cores, memory, interpreter."""

from __future__ import annotations

import os
import platform

GIB = 1 << 30


def describe() -> str:
    """One sentence: cores, memory, Python, and how busy the machine was as the run began."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}; load at the start {load:.1f}."
    )
