"""AgentFly's HTTP environment: `GET /health`, and `POST /exec {"code": ...}`, which runs it in the sandbox.

| answer | when |
|---|---|
| 200 `{"output": ...}` | success; what it printed, at most 16,384 characters |
| 400 `{"detail": ...}` | failure; the last line of its traceback, at most 8,192 characters |
| 408 `{"detail": "Execution timed out"}` | out of wall or CPU time |
| 422 `{"detail": ...}` | the request has no `code` |
| 503 `{"error": ...}` | the sandbox failed: no `detail`, which AgentFly's client would take for an output |

`endpoints.Guard` refuses some requests before that, on every server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluator.interop.agentfly.environment import LIMITS, SandboxFault, detail_of, error_of, output_of, run
from evaluator.interop.endpoints import AsciiJSON, posted, service
from evaluator.model import Limits
from evaluator.sandbox import SandboxUnavailable, Status

if TYPE_CHECKING:
    from starlette.applications import Starlette

LONGEST: Final = 8.0
"""MiB, the largest request."""


class _Request(msgspec.Struct):
    code: str


def application(limits: Limits = LIMITS) -> Starlette:
    """The environment as an ASGI application; `rollscope serve agentfly` runs it.

    `limits`: of each program; by default 10 s wall, 8 s CPU, 1 GiB. No sandbox: `/exec` answers 503. Serve it with
    `evaluator.interop.http_server.serve(application(), listener, host, longest=LONGEST)`.
    """

    async def execute(request: _Request) -> AsciiJSON:
        try:
            outcome = await run(request.code, limits)
        except (SandboxFault, SandboxUnavailable) as error:
            return AsciiJSON({"error": str(error)}, 503)
        if error_of(outcome) is None:
            return AsciiJSON({"output": output_of(outcome)})
        return AsciiJSON({"detail": detail_of(outcome)}, 408 if outcome.status is Status.TIME else 400)

    return service(posted("/exec", _Request, execute, {}, hint='give {"code": "..."}: '))
