"""Asks again what may go well the next time, after waiting longer and longer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec

from evaluator.interop.nemo_gym.collecting.failures import TransientError

Result = TypeVar("Result")

_LONGEST_ASKED_S: Final = 600.0
"""A server that asks for more is asked again all the same."""


class Backoff(msgspec.Struct, frozen=True):
    """How often to ask again, and how long to wait: twice as long each time, less up to half of it by chance."""

    retries: int = 8
    first_s: float = 0.5
    longest_s: float = 30.0

    def seconds(self, retry: int, asked_s: float | None) -> float:
        """Before a retry, of which the first is 0; as the server asks, where it does."""
        spread = random.uniform(0.5, 1.0)  # noqa: S311 - so that rollouts do not all come back at once
        own = min(self.longest_s, self.first_s * 2.0 ** min(retry, 60)) * spread
        return own if asked_s is None else min(max(asked_s, 0.0), _LONGEST_ASKED_S)


class Retries:
    """One collection's retries, counted."""

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self.retries = 0

    async def run(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        """What `ask` returns, at last. Raises what it raises; `TransientError` when there were enough of them."""
        for retry in range(self._backoff.retries):
            try:
                return await ask()
            except TransientError as again:
                self.retries += 1
                await asyncio.sleep(self._backoff.seconds(retry, again.wait_s))
        return await ask()
