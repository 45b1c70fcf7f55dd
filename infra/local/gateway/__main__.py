"""The gateway process: `python -m infra.local.gateway <config file>`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import uvicorn

from infra.local.gateway.app import Gateway, Rules
from infra.local.gateway.config import GatewayConfig, catalogue_with
from infra.local.gateway.consumers import Consumer, Source
from infra.local.gateway.doors import Doors
from infra.local.gateway.routing import Router
from infra.local.gateway.ticks import tick
from infra.local.issuer import IssuerApp, LocalIssuer
from judgment.kit.clock import utc_now

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Schedule

POLLERS_PER_QUEUE = 2
PARENT_CHECK_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 75


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handling: one process runs two of them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


def _server(app: Any, port: int) -> _Server:
    settings = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=port,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
        backlog=2048,
    )
    return _Server(settings)


async def run(config: GatewayConfig) -> None:
    """Serve until SIGTERM, SIGINT, or the end of the process that started this one."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    catalogue = catalogue_with(config.with_modules)
    doors = Doors(catalogue, config)
    with Path(config.wire_log).open("a", buffering=1) as wire:
        servers = [
            _server(_gateway(catalogue, doors, config, wire), config.port),
            _server(IssuerApp(_issuer(config)), config.issuer_port),
        ]
        tasks = [asyncio.create_task(server.serve()) for server in servers]
        consumers = _consumers(catalogue, doors, config)
        tasks.append(asyncio.create_task(_warm_then_tick(doors, catalogue.schedules)))
        tasks.append(asyncio.create_task(_watch_parent(stop)))
        await stop.wait()
        for consumer in consumers:
            consumer.stop()
        for server in servers:
            server.should_exit = True
        for task in tasks[len(servers) :]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await doors.close()


def _gateway(catalogue: Catalogue, doors: Doors, config: GatewayConfig, wire: TextIO) -> Gateway:
    def log(line: str) -> None:
        wire.write(line + "\n")

    rules = Rules(domain=config.host_port, integration_seconds=config.integration_seconds)
    return Gateway(Router(catalogue.routes), doors, rules, clock=utc_now, wire_log=log)


def _issuer(config: GatewayConfig) -> LocalIssuer:
    return LocalIssuer(Path(config.issuer_file), config.issuer_url)


def _consumers(catalogue: Catalogue, doors: Doors, config: GatewayConfig) -> list[Consumer]:
    if not catalogue.queues:
        return []
    import boto3

    loop = asyncio.get_running_loop()
    consumers: list[Consumer] = []
    for queue in catalogue.queues:
        sqs = boto3.client("sqs", **config.aws)  # type: ignore[call-overload]
        source = Source(queue.name, batch_size=queue.batch_size, **config.queues[queue.name])

        async def invoke(event: Any, door: str = queue.consumer) -> Any:
            return await doors.invoke(door, event)

        consumer = Consumer(source, sqs, invoke, loop)
        consumer.start(min(queue.max_concurrency, POLLERS_PER_QUEUE))
        consumers.append(consumer)
    return consumers


async def _warm_then_tick(doors: Doors, schedules: tuple[Schedule, ...]) -> None:
    await doors.warm()
    await asyncio.gather(*(_tick(doors, schedule) for schedule in schedules))


async def _tick(doors: Doors, schedule: Schedule) -> None:
    async def invoke(event: Any) -> Any:
        return await doors.invoke(schedule.door, event)

    await tick(schedule, invoke)


async def _watch_parent(stop: asyncio.Event) -> None:
    """The portable half of dying with the supervisor: Linux kills us, other systems do not."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_CHECK_SECONDS)
    stop.set()


def main() -> None:
    """Read the configuration and serve."""
    os.umask(0o077)
    config = GatewayConfig.read(Path(sys.argv[1]))
    with contextlib.suppress(ImportError):
        import uvloop

        uvloop.install()
    asyncio.run(run(config))
    sys.stdout.flush()
    os._exit(0)  # a poller may sit in a long poll; it has nothing to lose


if __name__ == "__main__":
    main()
