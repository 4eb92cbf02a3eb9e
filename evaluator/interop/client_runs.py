"""Runs that end with their client: who has gone away gets no answer, so nothing need be run for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Final, TypeVar

from evaluator.engines.stopping import Stop
from evaluator.extras import needs

with needs("serve", "a server needs starlette"):
    from starlette.requests import ClientDisconnect
    from starlette.types import Receive

Result = TypeVar("Result")

client: Final[ContextVar[Receive | None]] = ContextVar("client", default=None)
"""How to hear from the client whose request is being answered; `Guard` sets it."""


async def ended_with_client(
    begin: Callable[[Callable[[], Result]], Awaitable[Result]], job: Callable[[], Result]
) -> Result:
    """What `job` returns or raises, in the thread that `begin` has it run in. The request's body must have been read.

    Raises `ClientDisconnect` when the client is gone. Then, and when this is cancelled, a job that was not begun never
    is, and the sandbox of one that was is killed.
    """
    stop = Stop()
    running = asyncio.ensure_future(begin(lambda: stop.during(job)))
    gone = asyncio.ensure_future(_gone())
    try:
        await asyncio.wait((running, gone), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise ClientDisconnect
        return running.result()
    finally:
        gone.cancel()
        if not running.done():
            running.cancel()
            stop.ask()


async def _gone() -> None:
    """Returns when the client is."""
    receive = client.get()
    if receive is None:
        await asyncio.Event().wait()
        return
    while (await receive())["type"] != "http.disconnect":
        pass
