"""ColossalAI's verifier over HTTP: `POST /check_correctness`. Source: `start_code_verifier.py`.

The body is `{"in_outs", "generation", "timeout": 10, "debug": true, "eval_mode": false}`, the answer
`{"result": [1, 0, -1, -2, ...], "metadata": [{...}]}`. A bad body gets 422 and the reason in `detail`; a fault of the
sandbox gets 503, so that nobody takes it for a failed completion. `http_guard` refuses some requests before that, on
every server.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Final

import msgspec

from evaluator.extras import needs
from evaluator.interop.colossalai.testing_util import report_of
from evaluator.interop.thread_pool import in_pool_thread
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.routing import Route

    from evaluator.interop.ascii_json import AsciiJSON, health
    from evaluator.interop.disconnection import run_until_disconnect


LONGEST: Final = 256.0
"""MiB, the largest request."""
MAX_TIMEOUT_S: Final = 60.0
"""The default of the largest `timeout` of a request, in seconds."""


class Body(msgspec.Struct):
    """A request. Unknown fields are ignored."""

    in_outs: dict[str, JsonValue]
    generation: str
    timeout: float = 10
    debug: bool = True
    eval_mode: bool = False


def application(max_timeout_s: float = MAX_TIMEOUT_S) -> Starlette:
    """The server as an ASGI application; `rollscope serve colossalai` runs it.

    `max_timeout_s`: seconds; a request with a larger `timeout` gets 422, and one with 0 gets this. Serve it with
    `evaluator.interop.http_server.serve(application(), listener, host, longest=LONGEST)`.
    """

    async def check(request: Request) -> AsciiJSON:
        return await _check(request, max_timeout_s)

    return Starlette(
        routes=[
            Route("/check_correctness", check, methods=["POST"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


async def _check(request: Request, max_timeout_s: float) -> AsciiJSON:
    try:
        body = msgspec.convert(json.loads(await request.body()), Body)
        _require_lists(body)
        timeout = _timeout(body.timeout, max_timeout_s)
    except (ValueError, RecursionError) as error:
        return AsciiJSON({"detail": str(error)}, 422)
    try:
        job = partial(report_of, body.in_outs, body.generation, timeout, run_all=False)
        report = await run_until_disconnect(in_pool_thread, job)
    except SandboxUnavailable as error:
        return AsciiJSON({"detail": str(error)}, 503)
    except ValueError as error:
        return AsciiJSON({"detail": str(error)}, 422)
    if report.faulty:
        return AsciiJSON({"detail": f"the sandbox failed: {report.error_info['error_message']}"}, 503)
    return AsciiJSON({"result": [int(code) for code in report.results], "metadata": [report.error_info]})


def _require_lists(body: Body) -> None:
    inputs, outputs = body.in_outs.get("inputs"), body.in_outs.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(outputs) < len(inputs):
        raise ValueError("in_outs must have two lists, inputs and outputs, with an output for each input")


def _timeout(requested: float, most: float) -> float:
    """The time in seconds. Refuses too much instead of cutting it, which would fail a slow completion unnoticed."""
    if requested > most:
        raise ValueError(f"timeout is {requested:g} s, above {most:g}: request less, or serve with --max-timeout")
    return requested or most
