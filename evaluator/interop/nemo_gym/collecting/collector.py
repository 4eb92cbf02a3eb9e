"""Collects several rollouts at a time and writes each as soon as it is complete."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Protocol

import msgspec

from evaluator.formats import Problem
from evaluator.formats.reading.json_text import decode_json
from evaluator.http_calls import Backoff
from evaluator.interop.nemo_gym.collecting.endpoint import Api, Endpoint, address_from
from evaluator.interop.nemo_gym.collecting.figures import Figures, aggregate, figures_of
from evaluator.interop.nemo_gym.collecting.files import Files, Output
from evaluator.interop.nemo_gym.collecting.resources import ResourcesServer
from evaluator.interop.nemo_gym.collecting.rollout import FAILURE_CLASS, Roller
from evaluator.interop.nemo_gym.collecting.rows import materialized
from evaluator.interop.nemo_gym.collecting.service import CollectError, Retries, encoded
from evaluator.interop.nemo_gym.wire import JsonObject
from evaluator.model import JsonValue


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to collect, and from where to where."""

    rows: Path
    output: Path
    base_url: str | None = None
    """The model's endpoint; None: the environment's, or OpenAI's."""
    api: Api = "responses"
    server: str | None = None
    """The resources server's address; None: nothing is verified."""
    repeats: int = 1
    limit: int | None = None
    """Only so many of the first rows."""
    overrides: dict[str, JsonValue] = {}
    """Fields that replace the rows' own in `responses_create_params`, such as the model."""
    concurrency: int = 32
    most_turns: int = 16
    backoff: Backoff = Backoff()
    timeout_s: float = 600.0
    """Seconds for one request to the model or to the server."""
    resume: bool = False


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


async def collect(request: Request, watch: Watch, stop: asyncio.Event) -> Figures:
    """Collects until all rollouts exist or `stop` is set. Raises `CollectError`, `FormatError`, `OSError`."""
    started = time.monotonic()
    retries = Retries(request.backoff)
    url, key = address_from(request.base_url, os.environ)
    files = Files(request.output)
    async with AsyncExitStack() as stack:
        server = None
        if request.server is not None:
            server = ResourcesServer(request.server, request.timeout_s, retries)
            stack.push_async_callback(server.caller.close)
            await server.greet()
        endpoint = Endpoint(url, key, request.api, request.timeout_s, retries)
        stack.push_async_callback(endpoint.caller.close)
        rows = materialized(request.rows, request.repeats, request.limit, request.overrides, watch.bad_row)
        with closing(Output(files, rows, resume=request.resume, tell=watch.notice)) as output:
            watch.begins(output.inputs, len(output.done))
            roller = Roller(endpoint, server, request.most_turns)
            try:
                stopped = not await _unless(stop, _collected(roller, output, watch, request.concurrency))
                output.drop_settled()
            except CollectError:
                output.discard_if_empty()
                raise
        if server is not None and not stopped:
            await _unless(stop, aggregate(files, server, watch.notice))
    figures = figures_of(files, output.inputs, request.repeats)
    figures.retries, figures.seconds, figures.stopped = retries.count, time.monotonic() - started, stopped
    return figures


async def _collected(roller: Roller, output: Output, watch: Watch, concurrency: int) -> None:
    """Makes the wanted rollouts, several at a time, and writes each. Raises what one of them raised."""
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


async def _unless(stop: asyncio.Event, work: Coroutine[None, None, None]) -> bool:
    """Does the work, and raises what it raises; False if `stop` was set before its end."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        return working.done()
    finally:
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
