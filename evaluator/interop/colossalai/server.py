"""ColossalAI's verifier over HTTP: `POST /check_correctness`. Source: `start_code_verifier.py`.

The body is `{"in_outs", "generation", "timeout": 10, "debug": true, "eval_mode": false}`, the answer
`{"result": [1, 0, -1, -2, ...], "metadata": [{...}]}`. What is wrong with a body is told in `detail`, with status 422;
a fault of the sandbox with 503, so that nobody takes it for a failed completion. What is refused before that, for all
servers: see `http_guard`.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Final

import msgspec

from evaluator.extras import needs
from evaluator.interop.colossalai.testing_util import report_of
from evaluator.interop.crew import in_crew
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from evaluator.interop.client_runs import ended_with_client

LONGEST: Final = 256.0
"""MiB that a request may have."""
MAX_TIMEOUT_S: Final = 60.0
"""What a request may ask for, unless `rollscope serve` is told otherwise."""


class Body(msgspec.Struct):
    """What is asked. Fields that are not known are passed over."""

    in_outs: dict[str, JsonValue]
    generation: str
    timeout: float = 10
    debug: bool = True
    eval_mode: bool = False


def application(max_timeout_s: float = MAX_TIMEOUT_S) -> Starlette:
    """The server; `rollscope serve colossalai` runs it. `max_timeout_s`: the largest `timeout` that it takes, and the
    one of a request whose `timeout` is 0."""

    async def check(request: Request) -> JSONResponse:
        return await _check(request, max_timeout_s)

    return Starlette(
        routes=[
            Route("/check_correctness", check, methods=["POST"]),
            Route("/health", _health, methods=["GET"]),
        ]
    )


async def _health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


async def _check(request: Request, max_timeout_s: float) -> JSONResponse:
    try:
        body = msgspec.convert(json.loads(await request.body()), Body)
        _require_lists(body)
        timeout = _timeout(body.timeout, max_timeout_s)
    except (ValueError, RecursionError) as error:
        return _refused(422, str(error))
    try:
        job = partial(report_of, body.in_outs, body.generation, timeout, run_all=False)
        report = await ended_with_client(in_crew, job)
    except SandboxUnavailable as error:
        return _refused(503, str(error))
    except ValueError as error:
        return _refused(422, str(error))
    if report.faulty:
        return _refused(503, f"the sandbox failed: {report.error_info['error_message']}")
    return JSONResponse({"result": [int(code) for code in report.results], "metadata": [report.error_info]})


def _require_lists(body: Body) -> None:
    inputs, outputs = body.in_outs.get("inputs"), body.in_outs.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(outputs) < len(inputs):
        raise ValueError("in_outs wants inputs and outputs: two lists, with an output for each input")


def _timeout(asked: float, most: float) -> float:
    """Refused rather than cut: a slow completion would lose what it was promised."""
    if asked > most:
        raise ValueError(f"timeout is {asked:g} s, of at most {most:g}: ask for less, or serve with --max-timeout")
    return asked or most


def _refused(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status_code=status)
