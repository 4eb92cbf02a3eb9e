"""What those who run a server need: whether it lives and can work, its figures for Prometheus, and a token.

| path | answer |
|---|---|
| `GET /healthz` | 200 `{"status": "ok"}`: it runs |
| `GET /readyz` | the same: a sandbox starts, or all are at work; else 503 `{"error"}` |
| `GET /metrics` | figures in Prometheus' text format |

All but the first two need the token, if there is one.
"""

from __future__ import annotations

import asyncio
import bisect
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Final

from evaluator.interop.endpoints import AsciiJSON
from evaluator.version import VERSION
from evaluator.workers.engine import EngineError
from evaluator.workers.pool import verdicts
from evaluator.workers.server.application import NOT_ALLOWED, is_allowed
from evaluator.workers.worker import FAULTS
from evaluator.workers.worker_count import worker_count

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Ready = Callable[[], Awaitable[object]]
"""Raises an error of the sandbox or the machine where the server can't work."""

_READY_WITHIN_S: Final = 0.5
"""Later than that, all workers are busy."""
_BOUNDS: Final = (0.01, 0.1, 0.5, 1, 5, 10, 30, 60)
"""Seconds, of the histogram's buckets."""
_UNKNOWN: Final = (404, 405)
_GONE: Final = 499
"""The status of a request whose client went before its answer."""
_TEXT: Final = "text/plain; version=0.0.4"


class Monitor:
    """An ASGI middleware, within `endpoints.Guard`."""

    def __init__(self, app: ASGIApp, *, ready: Ready | None = None, token: str | None = None) -> None:
        self._app, self._ready, self._token = app, ready, token
        self._running = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        """How many requests took at most each bound and more than the one before, and how many longer."""
        self._seconds: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._own(scope) if scope["type"] == "http" else None
        if answer is not None:
            await answer(scope, receive, send)
        elif scope["type"] == "http":
            await self._counted(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _own(self, scope: Scope) -> Response | None:
        from starlette.responses import PlainTextResponse

        own = scope["path"] if scope["method"] == "GET" else ""
        if own == "/healthz":
            return AsciiJSON({"status": "ok"})
        if own == "/readyz":
            return await self._readiness()
        given = dict(scope["headers"]).get(b"authorization", b"")
        if not is_allowed(given, self._token):
            return AsciiJSON({"error": NOT_ALLOWED}, 401)
        return PlainTextResponse("\n".join([*self._figures(), ""]), media_type=_TEXT) if own == "/metrics" else None

    async def _readiness(self) -> Response:
        try:
            async with asyncio.timeout(_READY_WITHIN_S):
                if self._ready is not None:
                    await self._ready()
        except TimeoutError:
            pass
        except (EngineError, *FAULTS) as error:
            return AsciiJSON({"error": str(error)}, 503)
        return AsciiJSON({"status": "ok"})

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, began = _GONE, time.perf_counter()

        async def noting_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        self._running += 1
        try:
            await self._app(scope, receive, noting_status)
        finally:
            self._running -= 1
            path, seconds = "other" if status in _UNKNOWN else scope["path"], time.perf_counter() - began
            self._requests[path, status] += 1
            self._seconds[path] = self._seconds.get(path, 0) + seconds
            self._buckets.setdefault(path, [0] * (len(_BOUNDS) + 1))[bisect.bisect_left(_BOUNDS, seconds)] += 1

    def _figures(self) -> Iterator[str]:
        yield "# TYPE rollscope_info gauge"
        yield f'rollscope_info{{version="{VERSION}"}} 1'
        yield "# TYPE rollscope_workers gauge"
        yield f"rollscope_workers {worker_count()}"
        yield "# TYPE rollscope_requests_in_progress gauge"
        yield f"rollscope_requests_in_progress {self._running}"
        yield "# TYPE rollscope_grades_total counter"
        for verdict, count in sorted(verdicts.items()):
            yield f'rollscope_grades_total{{verdict="{verdict}"}} {count}'
        yield "# TYPE rollscope_requests_total counter"
        for (path, status), count in sorted(self._requests.items()):
            yield f'rollscope_requests_total{{path="{path}",status="{status}"}} {count}'
        yield "# TYPE rollscope_request_seconds histogram"
        for path, counts in sorted(self._buckets.items()):
            for place, bound in enumerate((*map(str, _BOUNDS), "+Inf"), 1):
                yield f'rollscope_request_seconds_bucket{{path="{path}",le="{bound}"}} {sum(counts[:place])}'
            yield f'rollscope_request_seconds_sum{{path="{path}"}} {self._seconds[path]:.6f}'
            yield f'rollscope_request_seconds_count{{path="{path}"}} {sum(counts)}'
