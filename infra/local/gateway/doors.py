"""Every door of a catalogue behind a pool of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra.local.gateway.buffered import BufferedEnvironment
from infra.local.gateway.invoking import FunctionSpec
from infra.local.gateway.pool import Pool
from infra.local.gateway.streamed import StreamEnvironment

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Door
    from infra.local.gateway.config import GatewayConfig
    from infra.local.gateway.events import Event

MOST_STREAMS = 64
STREAMS_STARTING = 4
"""An environment serves one stream, and a stream may take minutes; a start takes a processor."""


class Doors:
    """Runs doors by name."""

    def __init__(self, catalogue: Catalogue, config: GatewayConfig):
        self._pools = {
            door.name: _pool(_spec(door, config))
            for door in catalogue.doors
            if door.trigger != "deploy"
        }

    async def invoke(self, door: str, event: Event, limit_s: float | None = None) -> Any:
        """The door's reply. Raises InvocationFailed."""
        return await self._pools[door].invoke(event, limit_s)

    def streams(self, door: str) -> bool:
        """Whether the door answers in chunks."""
        return self._pools[door].spec.stream

    async def warm(self) -> None:
        """Start one environment for each door, one after the other in the catalogue's order.

        All at once they would keep each other, and the first caller, waiting for the processor.
        """
        for pool in self._pools.values():
            await pool.warm()

    async def close(self) -> None:
        """Kill every environment."""
        for pool in self._pools.values():
            await pool.close()


def _pool(spec: FunctionSpec) -> Pool:
    if spec.stream:
        return Pool(spec, StreamEnvironment, most=MOST_STREAMS, at_once=STREAMS_STARTING)
    return Pool(spec, BufferedEnvironment)


def _spec(door: Door, config: GatewayConfig) -> FunctionSpec:
    return FunctionSpec(
        name=f"judgment-{door.name}",
        handler=f"{door.handler}.handler",
        environ=config.environments[door.name],
        timeout_s=door.timeout_s,
        memory_mb=door.memory_mb,
        log=Path(config.logs) / f"{door.name}.log",
        folder=Path(config.checkout),
        stream=door.stream,
    )
