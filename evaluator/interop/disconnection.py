"""Stops a request's job when its client disconnects: nobody would read the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Final, TypeVar

from evaluator.extras import needs
from evaluator.workers.interrupts import Stop

with needs("serve", "a server needs starlette"):
    from starlette.requests import ClientDisconnect
    from starlette.types import Receive

Result = TypeVar("Result")

current_receive: Final[ContextVar[Receive | None]] = ContextVar("current_receive", default=None)
"""The ASGI `receive` of the current request, which reports a disconnect; `Guard` sets it."""


async def run_until_disconnect(
    begin: Callable[[Callable[[], Result]], Awaitable[Result]], job: Callable[[], Result]
) -> Result:
    """Returns or raises what `job` does; `begin` runs it in a thread. Read the request's body first.

    Raises `ClientDisconnect` when the client disconnects. Then, and when cancelled, a waiting job is dropped and the
    sandbox of a running one is killed.
    """
    stop = Stop()
    running = asyncio.ensure_future(begin(lambda: stop.during(job)))
    disconnected = asyncio.ensure_future(_disconnected())
    try:
        await asyncio.wait((running, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise ClientDisconnect
        return running.result()
    finally:
        disconnected.cancel()
        if not running.done():
            running.cancel()
            stop.request()


async def _disconnected() -> None:
    """Returns when the client has disconnected."""
    receive = current_receive.get()
    if receive is None:
        await asyncio.Event().wait()
        return
    while (await receive())["type"] != "http.disconnect":
        pass
