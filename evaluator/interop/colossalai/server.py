"""ColossalAI's verifier over HTTP: `POST /check_correctness`. Source: `start_code_verifier.py`.

The body is `{"in_outs", "generation", "timeout": 10, "debug": true, "eval_mode": false}`, the answer
`{"result": [1, 0, -1, -2, ...], "metadata": [{...}]}`. A bad body gets 422 and the reason in `detail`; a fault of the
sandbox gets 503, so that nobody takes it for a failed completion. `endpoints.Guard` refuses some requests before that,
on every server.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from evaluator.interop.colossalai.testing_util import report_of
from evaluator.interop.endpoints import AsciiJSON, in_thread, posted, require_at_most, service
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable

if TYPE_CHECKING:
    from starlette.applications import Starlette

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

    async def check(body: Body) -> AsciiJSON:
        inputs, outputs = body.in_outs.get("inputs"), body.in_outs.get("outputs")
        if not isinstance(inputs, list) or not isinstance(outputs, list) or len(outputs) < len(inputs):
            raise ValueError("in_outs must have two lists, inputs and outputs, with an output for each input")
        require_at_most("timeout", body.timeout, max_timeout_s)
        job = partial(report_of, body.in_outs, body.generation, body.timeout or max_timeout_s, run_all=False)
        report = await in_thread(None, job)
        if report.faulty:
            return AsciiJSON({"detail": f"the sandbox failed: {report.error_info['error_message']}"}, 503)
        return AsciiJSON({"result": [int(code) for code in report.results], "metadata": [report.error_info]})

    return service(posted("/check_correctness", Body, check, {SandboxUnavailable: 503}))
