"""Retries requests after longer and longer waits."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec

from evaluator.interop.nemo_gym.collecting.failures import TransientError

Result = TypeVar("Result")

_LONGEST_REQUESTED_S: Final = 600.0
"""The longest wait that a server can request."""


class Backoff(msgspec.Struct, frozen=True):
    """How often to retry and how long to wait: twice as long each time, minus a random part of up to half."""

    retries: int = 8
    first_s: float = 0.5
    longest_s: float = 30.0

    def seconds(self, retry: int, requested_s: float | None) -> float:
        """The wait before a retry; the first is 0; `requested_s` is the server's wish."""
        spread = random.uniform(0.5, 1.0)  # noqa: S311 - so that rollouts do not all retry at once
        own = min(self.longest_s, self.first_s * 2.0 ** min(retry, 60)) * spread
        return own if requested_s is None else min(max(requested_s, 0.0), _LONGEST_REQUESTED_S)


class Retries:
    """Makes and counts the retries of one collection."""

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self.retries = 0

    async def run(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        """Returns or raises what `ask` does; `TransientError` only after the last retry."""
        for retry in range(self._backoff.retries):
            try:
                return await ask()
            except TransientError as again:
                self.retries += 1
                await asyncio.sleep(self._backoff.seconds(retry, again.wait_s))
        return await ask()
