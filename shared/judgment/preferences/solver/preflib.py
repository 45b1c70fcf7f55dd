"""PrefLib's files of ranked ballots (.soc, .soi, .toc, .toi): `count: first, {second, level}, …`.

Format: preflib.org, "Data format"; lines that begin with `#` are metadata and passed over.
"""

from __future__ import annotations

import re

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.ballots import Ballot

_LINE = re.compile(r"\s*([0-9]{1,10})\s*:\s*(.+)")
_GROUP = re.compile(r"\s*(?:\{([^{}]*)\}|([^{},]+))\s*(?:,|$)")


def ballots_in(text: str) -> tuple[Ballot, ...]:
    """The ballots of a file, candidates by the file's own numbers. Raises InvalidRequest."""
    read: list[Ballot] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            found = _LINE.fullmatch(line)
            if found is None:
                raise InvalidRequest(f"line {number} is not a count, a colon and an order")
            read.append(Ballot(_order(number, found[2].strip()), int(found[1])))
    return tuple(read)


def _order(number: int, text: str) -> tuple[tuple[str, ...], ...]:
    groups: list[tuple[str, ...]] = []
    place = 0
    while place < len(text):
        found = _GROUP.match(text, place)
        if found is None:
            raise InvalidRequest(f"line {number} has an order that cannot be read")
        groups.append(tuple(one.strip() for one in (found[1] or found[2]).split(",")))
        place = found.end()
    return tuple(groups)
