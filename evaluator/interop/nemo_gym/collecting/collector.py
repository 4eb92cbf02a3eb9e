"""Collects several rollouts at a time and writes each as soon as it is complete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

import msgspec

from evaluator.formats import Problem
from evaluator.formats.reading.json_text import decode_json
from evaluator.interop.nemo_gym.collecting.endpoint import Address, Api, Endpoint
from evaluator.interop.nemo_gym.collecting.figures import Figures, aggregate, figures_of
from evaluator.interop.nemo_gym.collecting.files import Files, Output, begin, drop_settled
from evaluator.interop.nemo_gym.collecting.resources import ResourcesServer
from evaluator.interop.nemo_gym.collecting.rollout import FAILURE_CLASS, Roller
from evaluator.interop.nemo_gym.collecting.rows import RowSelection, materialized
from evaluator.interop.nemo_gym.collecting.transport import Backoff, CollectError, Retries, RolloutError, encoded
from evaluator.interop.nemo_gym.wire import JsonObject


class Request(msgspec.Struct, frozen=True):
    """What to collect, and from where to where."""

    selection: RowSelection
    output: Path
    address: Address
    api: Api = "responses"
    server: str | None = None
    """The resources server's address; None: nothing is verified."""
    concurrency: int = 32
    most_turns: int = 16
    backoff: Backoff = Backoff()
    timeout_s: float = 600.0
    """Seconds for one request to the model or to the server."""
    resume: bool = False


class Collected(msgspec.Struct):
    """The result of one session; the figures cover all rollouts of the file."""

    figures: Figures
    retries: int
    seconds: float
    stopped: bool
    metrics: bool
    """Whether the server's own figures were written."""


class Watch(Protocol):
    """The observer of a collection."""

    def begins(self, requested: int, done: int) -> None:
        """Called at the start with the number of rollouts to collect, and of existing ones."""

    def rolled(self, record: JsonObject) -> None:
        """Called for each rollout, also for a failed one."""

    def bad_row(self, problem: Problem) -> None:
        """Called for each row of the input that is skipped."""

    def notice(self, line: str) -> None:
        """Called with a line for the user."""


async def collect(request: Request, watch: Watch, stop: asyncio.Event) -> Collected:
    """Collects until all rollouts exist or `stop` is set. Raises `CollectError`, `FormatError`, `OSError`."""
    started = time.monotonic()
    retries = Retries(request.backoff)
    async with AsyncExitStack() as stack:
        server = None
        if request.server is not None:
            server = ResourcesServer(request.server, request.timeout_s, retries)
            stack.push_async_callback(server.close)
            await server.greet()
        endpoint = Endpoint(request.address, request.api, request.timeout_s, retries)
        stack.push_async_callback(endpoint.close)
        files = Files(request.output)
        output = begin(files, materialized(request.selection, watch.bad_row), resume=request.resume, tell=watch.notice)
        try:
            watch.begins(output.inputs, len(output.done))
            roller = Roller(endpoint, server, request.most_turns)
            stopped = not await _unless(stop, _collected(roller, output, watch, request.concurrency))
            drop_settled(files, output.done)
        except CollectError:
            output.discard_if_empty()
            raise
        finally:
            output.close()
        has_metrics = False
        if server is not None and not stopped:
            has_metrics = await _unless(stop, _aggregated(files, server, watch.notice))
        figures = figures_of(files, output.inputs, request.selection.repeats)
    return Collected(figures, retries.retries, time.monotonic() - started, stopped, has_metrics)


async def _collected(roller: Roller, output: Output, watch: Watch, concurrency: int) -> bool:
    """Makes the wanted rollouts, several at a time, and writes each; then True. Raises what one of them raised."""
    wanted = output.wanted()

    async def work() -> None:
        for line in wanted:
            row = decode_json(line)
            assert isinstance(row, dict)
            record = await roller.roll(row)
            output.add(encoded(record) + b"\n", failed=FAILURE_CLASS in record)
            watch.rolled(record)

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return True


async def _unless(stop: asyncio.Event, work: Coroutine[None, None, bool]) -> bool:
    """The result of the work; False if `stop` was set before its end."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return working.done() and working.result()
    finally:
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


async def _aggregated(files: Files, server: ResourcesServer, tell: Callable[[str], None]) -> bool:
    try:
        missing = await aggregate(files, server)
    except (RolloutError, CollectError, ValueError) as error:
        missing = f"{files.metrics.name} is left out: {error}"
    if missing:
        tell(" ".join(missing.split()))
    return not missing
