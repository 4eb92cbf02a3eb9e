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
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.routing import Route

    from evaluator.interop.endpoints import AsciiJSON, health, in_thread, posted


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

    def read(body: bytes) -> Body:
        found = msgspec.convert(json.loads(body), Body)
        _require_lists(found)
        found.timeout = _timeout(found.timeout, max_timeout_s)
        return found

    return Starlette(
        routes=[
            posted("/check_correctness", read, _checked, {SandboxUnavailable: 503}),
            Route("/health", health, methods=["GET"]),
        ]
    )


async def _checked(body: Body) -> AsciiJSON:
    report = await in_thread(None, partial(report_of, body.in_outs, body.generation, body.timeout, run_all=False))
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
