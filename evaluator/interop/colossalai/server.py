"""ColossalAI's verifier over HTTP: `POST /check_correctness`. Source: `start_code_verifier.py`.

The body is `{"in_outs", "generation", "timeout": 10, "debug": true, "eval_mode": false}`, the answer
`{"result": [1, 0, -1, -2, ...], "metadata": [{...}]}`. What is wrong with a body is told in `detail`, with status 422;
a fault of the sandbox with 503, so that nobody takes it for a failed completion.
"""

from __future__ import annotations

import json
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from evaluator.interop.colossalai.testing_util import report_of
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable

_LARGEST: Final = 256 * 2**20


class Body(msgspec.Struct):
    """What is asked. Fields that are not known are passed over."""

    in_outs: dict[str, JsonValue]
    generation: str
    timeout: float = 10
    debug: bool = True
    eval_mode: bool = False


def application() -> Starlette:
    """The server; `rollscope serve colossalai` runs it."""
    return Starlette(
        routes=[
            Route("/check_correctness", _check, methods=["POST"]),
            Route("/health", _health, methods=["GET"]),
        ]
    )


async def _health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


async def _check(request: Request) -> JSONResponse:
    if int(request.headers.get("content-length") or 0) > _LARGEST:
        return _refused(413, f"the body is larger than {_LARGEST >> 20} MiB")
    try:
        body = msgspec.convert(json.loads(await request.body()), Body)
        _require_lists(body)
    except (ValueError, RecursionError) as error:
        return _refused(422, str(error))
    try:
        report = await run_in_threadpool(report_of, body.in_outs, body.generation, body.timeout, run_all=False)
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


def _refused(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status_code=status)
