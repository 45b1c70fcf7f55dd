"""Which row of the route table a request reaches, as API Gateway chooses it.

The most specific resource wins: a literal segment before a `{name}`, that before a greedy
`{name+}`, segment by segment from the left. Then the method's own row, else the `ANY` row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from judgment.contract.routes import Route


@dataclass(frozen=True)
class Match:
    """A route, and the decoded values of its path parameters."""

    route: Route
    parameters: dict[str, str]


@dataclass(frozen=True)
class _Resource:
    path: str
    segments: tuple[str, ...]
    methods: dict[str, Route]

    @property
    def greedy(self) -> bool:
        return self.segments[-1].endswith("+}")

    @property
    def rank(self) -> tuple[int, ...]:
        return tuple(_rank(segment) for segment in self.segments)

    def parameters(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """The path parameters when the resource covers these segments, else None."""
        own = self.segments
        if len(segments) < len(own) or (len(segments) > len(own) and not self.greedy):
            return None
        found: dict[str, str] = {}
        for index, pattern in enumerate(own):
            if pattern.endswith("+}"):
                found[pattern[1:-2]] = unquote("/".join(segments[index:]))
            elif pattern.startswith("{"):
                found[pattern[1:-1]] = unquote(segments[index])
            elif pattern != segments[index]:
                return None
        return found


class Router:
    """The route table, ready to be asked."""

    def __init__(self, routes: tuple[Route, ...]):
        by_path: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, {})[route.method] = route
        resources = [_Resource(path, _split(path), found) for path, found in by_path.items()]
        self._resources = sorted(resources, key=lambda resource: resource.rank, reverse=True)

    def match(self, method: str, path: str) -> Match | None:
        """The route for a raw (still percent-encoded) path, or None: API Gateway has no row."""
        segments = _split(path)
        for resource in self._resources:
            parameters = resource.parameters(segments)
            if parameters is not None:
                route = resource.methods.get(method) or resource.methods.get("ANY")
                return Match(route, parameters) if route else None
        return None


def _split(path: str) -> tuple[str, ...]:
    return tuple(path[1:].split("/"))


def _rank(segment: str) -> int:
    if segment.endswith("+}"):
        return 0
    return 1 if segment.startswith("{") else 2
