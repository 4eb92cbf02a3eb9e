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
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

import msgspec

from evaluator.extras import needs
from evaluator.interop import open_instruct
from evaluator.interop.sandbox_fusion import run_code
from evaluator.interop.thread_pool import in_pool_thread
from evaluator.model import Limits
from evaluator.sandbox import SandboxUnavailable

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from evaluator.interop.ascii_json import AsciiJSON, health
    from evaluator.interop.disconnection import run_until_disconnect


LONGEST: Final = 256.0
"""MiB, the largest request."""
MAX_TIMEOUT_S: Final = 60.0
"""The default of the largest `run_timeout` or `max_execution_time` of a request, in seconds."""
LIMITS: Final = Limits()
"""The default of the limits that a request does not set."""
_LEAST_WAIT_S: Final = 5.0

Body = TypeVar("Body")
Result = TypeVar("Result")


class BusyError(Exception):
    """No sandbox was free in time."""


def application(limits: Limits = LIMITS, max_timeout_s: float = MAX_TIMEOUT_S) -> Starlette:
    """The server as an ASGI application; `rollscope serve sandbox-fusion` runs it.

    `limits`: of each program, but for the times and what a request sets. `max_timeout_s`: seconds; a request that asks
    for more gets 422. Serve it with
    `evaluator.interop.http_server.serve(application(), listener, host, longest=LONGEST)`.
    """

    async def run(request: Request) -> Response:
        try:
            body = await _body(request, run_code.Request)
            _require(max_timeout_s, run_timeout=body.run_timeout)
            # Python compiles nothing beforehand: a client that waits for it waits for a free sandbox instead.
            begin = partial(_in_time, wait_s=max(body.compile_timeout, _LEAST_WAIT_S))
            answer = await run_until_disconnect(begin, partial(run_code.run, body, limits))
        except (ValueError, RecursionError) as error:
            return AsciiJSON({"detail": str(error)}, 422)
        except BusyError as error:
            return AsciiJSON({"detail": str(error)}, 504)
        return _encoded(answer)

    def graded(
        results: Callable[[open_instruct.Request, Limits], open_instruct.Results],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def grade(request: Request) -> Response:
            try:
                body = await _body(request, open_instruct.Request)
                _require(max_timeout_s, max_execution_time=body.max_execution_time)
                return _encoded(await run_until_disconnect(in_pool_thread, partial(results, body, limits)))
            except (ValueError, RecursionError) as error:
                return AsciiJSON({"detail": str(error)}, 422)
            except (open_instruct.UngradedError, SandboxUnavailable) as error:
                return AsciiJSON({"detail": str(error)}, 503)

        return grade

    return Starlette(
        routes=[
            Route("/run_code", run, methods=["POST"]),
            Route("/test_program", graded(open_instruct.results_of_asserts), methods=["POST"]),
            Route("/test_program_stdio", graded(open_instruct.results_of_stdio), methods=["POST"]),
            Route("/v1/ping", _ping, methods=["GET"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


async def _ping(_request: Request) -> Response:
    return AsciiJSON("pong")


async def _body(request: Request, kind: type[Body]) -> Body:
    """Raises `ValueError`, and `RecursionError` for JSON that is nested too deeply."""
    try:
        fields = json.loads(await request.body())
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


async def _in_time(job: Callable[[], Result], *, wait_s: float) -> Result:
    """Returns or raises what `job` does. Raises `BusyError` if it can't begin within `wait_s`."""
    began = threading.Event()

    def beginning() -> Result:
        began.set()
        return job()

    running = asyncio.ensure_future(in_pool_thread(beginning))
    try:
        await asyncio.wait((running,), timeout=wait_s)
        if not began.is_set():
            raise BusyError(
                f"no sandbox was free within {wait_s:g} s (see compile_timeout): send it again, or fewer at once"
            )
        return await running
    finally:
        running.cancel()
