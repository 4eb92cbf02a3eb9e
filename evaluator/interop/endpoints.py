"""What the endpoints of all servers share: JSON in and out, and work that ends when its client has gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Executor
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from evaluator.extras import needs
from evaluator.workers.interrupts import Stop

with needs("serve", "a server needs starlette"):
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import Receive

Body = TypeVar("Body")
Result = TypeVar("Result")

current_receive: Final[ContextVar[Receive | None]] = ContextVar("current_receive", default=None)
"""The ASGI `receive` of the current request, which reports a disconnect; `Guard` sets it."""


class AsciiJSON(JSONResponse):
    """JSON in ASCII, since models write half a surrogate pair, which UTF-8 lacks. NaN and infinity become null."""

    def render(self, content: Any) -> bytes:
        try:
            return _compact(content)
        except ValueError:
            return _compact(json.loads(json.dumps(content), parse_constant=lambda _: None))


async def health(_request: Request) -> AsciiJSON:
    """The endpoint that says that a server runs."""
    return AsciiJSON({"status": "ok"})


def posted(
    path: str,
    read: Callable[[bytes], Body],
    answer: Callable[[Body], Coroutine[Any, Any, Response]],
    refusals: Mapping[type[Exception], int],
) -> Route:
    """The route of a `POST` with a body. A `ValueError` gets 422, an exception of `refusals` its status; both with the
    reason in `detail`."""
    statuses: dict[type[Exception], int] = {**refusals, ValueError: 422, RecursionError: 422}

    async def endpoint(request: Request) -> Response:
        try:
            return await until_disconnect(answer(read(await request.body())))
        except tuple(statuses) as error:
            status = next(status for kind, status in statuses.items() if isinstance(error, kind))
            return AsciiJSON({"detail": str(error)}, status)

    return Route(path, endpoint, methods=["POST"])


async def until_disconnect(work: Awaitable[Result]) -> Result:
    """Returns or raises what `work` does. Read the request's body first.

    Raises `ClientDisconnect` when the client disconnects: the work is cancelled, as nobody would read the answer.
    """
    working, disconnected = asyncio.ensure_future(work), asyncio.ensure_future(_disconnected())
    try:
        await asyncio.wait((working, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        disconnected.cancel()


async def in_thread(threads: Executor | None, job: Callable[[], Result]) -> Result:
    """Returns or raises what `job` does in a thread; None: of the event loop's own.

    When it is cancelled, a waiting job is dropped, and the sandbox of a running one is killed.
    """
    stop = Stop()
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, lambda: stop.during(job))
    except asyncio.CancelledError:
        stop.request()
        raise


async def _disconnected() -> None:
    """Returns when the client has disconnected."""
    receive = current_receive.get()
    if receive is None:
        await asyncio.Event().wait()
        return
    while (await receive())["type"] != "http.disconnect":
        pass


def _compact(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
