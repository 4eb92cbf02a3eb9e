"""SandboxFusion over HTTP, and open-instruct's code API.

| request | answer |
|---|---|
| `POST /run_code` | 200, also for a program that fails: see `run_code.Answer`; 504 if no sandbox was free in time |
| `POST /test_program`, `POST /test_program_stdio` | 200 `{"results", "runtimes"}`: see `open_instruct.Results` |
| | 503 `{"detail"}` if the sandbox failed, so that nobody takes it for a failed program |
| `GET /v1/ping`, `GET /health` | 200 |

A bad body gets 422 and the reason in `detail`. `http_guard` refuses some requests before that, on every server.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

import msgspec

from evaluator.extras import needs
from evaluator.interop import open_instruct
from evaluator.interop.sandbox_fusion import run_code
from evaluator.model import Limits
from evaluator.sandbox import SandboxUnavailable

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from evaluator.interop.endpoints import AsciiJSON, health, posted


LONGEST: Final = 256.0
"""MiB, the largest request."""
MAX_TIMEOUT_S: Final = 60.0
"""The default of the largest `run_timeout` or `max_execution_time` of a request, in seconds."""
LIMITS: Final = Limits()
"""The default of the limits that a request does not set."""
_LEAST_WAIT_S: Final = 5.0

Body = TypeVar("Body")
Results = Callable[[open_instruct.Request, Limits], Awaitable[open_instruct.Results]]


class BusyError(Exception):
    """No sandbox was free in time."""


def application(limits: Limits = LIMITS, max_timeout_s: float = MAX_TIMEOUT_S) -> Starlette:
    """The server as an ASGI application; `rollscope serve sandbox-fusion` runs it.

    `limits`: of each program, but for the times and what a request sets. `max_timeout_s`: seconds; a request that asks
    for more gets 422. Serve it with
    `evaluator.interop.http_server.serve(application(), listener, host, longest=LONGEST)`.
    """

    slots = asyncio.Semaphore(len(os.sched_getaffinity(0)))
    """Leave to use a sandbox."""

    async def run(request: run_code.Request) -> Response:
        _require(max_timeout_s, run_timeout=request.run_timeout)
        # Python compiles nothing beforehand: a client that waits for it waits for a free sandbox instead.
        wait_s = max(request.compile_timeout, _LEAST_WAIT_S)
        try:
            async with asyncio.timeout(wait_s):
                await slots.acquire()
        except TimeoutError:
            raise BusyError(
                f"no sandbox was free within {wait_s:g} s (see compile_timeout): send it again, or fewer at once"
            ) from None
        try:
            return _encoded(await run_code.run(request, limits))
        finally:
            slots.release()

    def graded(path: str, results: Results) -> Route:
        async def grade(request: open_instruct.Request) -> Response:
            _require(max_timeout_s, max_execution_time=request.max_execution_time)
            async with slots:
                return _encoded(await results(request, limits))

        refusals = {open_instruct.UngradedError: 503, SandboxUnavailable: 503}
        return posted(path, partial(_read, open_instruct.Request), grade, refusals)

    return Starlette(
        routes=[
            posted("/run_code", partial(_read, run_code.Request), run, {BusyError: 504}),
            graded("/test_program", open_instruct.results_of_asserts),
            graded("/test_program_stdio", open_instruct.results_of_stdio),
            Route("/v1/ping", _ping, methods=["GET"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


async def _ping(_request: Request) -> Response:
    return AsciiJSON("pong")


def _read(kind: type[Body], body: bytes) -> Body:
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise ValueError(f"the body is not JSON: {error}") from None
    return msgspec.convert(fields, kind)


def _require(most: float, **timeout: float) -> None:
    """Refuses too much time instead of cutting it, which would fail a slow program unnoticed. Raises `ValueError`."""
    [(name, seconds)] = timeout.items()
    if not seconds > 0:
        raise ValueError(f"{name} is {seconds:g}: give seconds above 0")
    if seconds > most:
        raise ValueError(f"{name} is {seconds:g} s, above {most:g}: request less, or serve with --max-timeout")


def _encoded(answer: msgspec.Struct) -> Response:
    return AsciiJSON(msgspec.to_builtins(answer))
