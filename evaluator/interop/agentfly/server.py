"""AgentFly's HTTP environment: `GET /health`, and `POST /exec {"code": ...}`, which runs it in the sandbox.

| answer | when |
|---|---|
| 200 `{"output": ...}` | it ran to its end; what it printed, at most 16,384 characters |
| 400 `{"detail": ...}` | it failed; the last line of its traceback, at most 8,192 characters |
| 408 `{"detail": "Execution timed out"}` | it was out of wall or CPU time |
| 422 `{"detail": ...}` | the request has no `code` |
| 503 `{"error": ...}` | the sandbox failed: no `detail`, which AgentFly's client would take for an output |

What is refused before that, for all servers: see `http_guard`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from evaluator.extras import needs
from evaluator.interop.agentfly.execution import ERROR_CHARACTERS, LIMITS, Run, SandboxFault, run
from evaluator.interop.crew import in_crew
from evaluator.model import Limits
from evaluator.sandbox import SandboxUnavailable, Status

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from evaluator.interop.client_runs import ended_with_client

LONGEST: Final = 8.0
"""MiB that a request may have."""


class _Order(msgspec.Struct):
    code: str


def application(limits: Limits = LIMITS) -> Starlette:
    """The environment as an ASGI application; `limits` hold for each program."""

    async def execute(request: Request) -> Response:
        try:
            order = msgspec.json.decode(await request.body(), type=_Order)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return _told(422, detail=f'give {{"code": "..."}}: {error}')
        try:
            return _answer(await ended_with_client(in_crew, partial(run, order.code, limits)))
        except (SandboxFault, SandboxUnavailable) as error:
            return _told(503, error=str(error))

    return Starlette(routes=[Route("/health", _health), Route("/exec", execute, methods=["POST"])])


async def _health(request: Request) -> Response:
    del request
    return _told(200, status="ok")


def _answer(done: Run) -> Response:
    if done.error is None:
        return _told(200, output=done.output)
    # An exception's text is what Python writes to stderr, so it ends with a newline there.
    detail = f"{done.error}\n"[:ERROR_CHARACTERS] if done.raised else done.error
    return _told(408 if done.status is Status.TIME else 400, detail=detail)


def _told(code: int, /, **content: str) -> Response:
    return JSONResponse(content, code)
