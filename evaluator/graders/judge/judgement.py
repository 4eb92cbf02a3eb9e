"""Gets a score from the cache, else from a judge, with retries and a limit on concurrent calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from typing import Final

import msgspec

from evaluator.graders.judge import cache
from evaluator.graders.judge.call import CallError, JudgeError, Question, Server, call, client_for
from evaluator.graders.judge.event_loop import GivenUp, Line, line
from evaluator.graders.judge.prompt import score_of

LONGEST_WAIT_S: Final = 60.0
"""If a server requests a longer wait, there is no retry."""
_LONGEST_BACKOFF_S: Final = 8.0
_FORM: Final = 1
"""The version of the cache's keys."""


class Judgement(msgspec.Struct, frozen=True):
    """A score from 0 to the scale, and the judge's whole answer."""

    score: float
    text: str


def judge(server: Server, question: Question, scale: float, *, cached: bool, given_up: GivenUp) -> Judgement:
    """The judgement. Raises `JudgeError` if there is none, `GivenUpError` if it is no longer needed.

    With `cached`, a stored judgement is used again, and threads with the same question share one call.
    """
    own = line()

    def ask() -> Judgement:
        return own.run(_ask(own, server, question, scale), given_up)

    if not cached:
        return ask()
    key = _digest(server, question, scale)
    return own.once(key, lambda: _from_cache(key, scale) or _stored(key, ask()), given_up)


def _from_cache(key: bytes, scale: float) -> Judgement | None:
    text = cache.get(key)
    if text is None:
        return None
    try:
        return Judgement(score_of(text, scale), text)
    except CallError:  # not written by us
        return None


def _stored(key: bytes, judgement: Judgement) -> Judgement:
    cache.put(key, judgement.text)
    return judgement


def _digest(server: Server, question: Question, scale: float) -> bytes:
    parts = [_FORM, server.address, question.model, question.messages, question.options, scale]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()


async def _ask(own: Line, server: Server, question: Question, scale: float) -> Judgement:
    client = own.clients.get((server.address, server.key))
    if client is None:
        client = own.clients[server.address, server.key] = client_for(server)
    async with own.call(server.address, server.concurrency):
        for tries in range(1, server.retries + 2):
            try:
                text = await call(client, server, question)
                return Judgement(score_of(text, scale), text)
            except CallError as error:
                failure = error
            if not failure.again or tries > server.retries:
                break
            if (failure.wait_s or 0) > LONGEST_WAIT_S:
                raise JudgeError(f"{failure}; it asks to wait for {failure.wait_s:.0f} s")
            # Keeps its place: an overloaded server must not get more calls.
            await asyncio.sleep(_wait_s(tries, failure, server))
        raise JudgeError(f"{failure} ({tries} tries)" if tries > 1 else str(failure))


def _wait_s(tries: int, failure: CallError, server: Server) -> float:
    if failure.wait_s is not None:
        return failure.wait_s
    # at random, so that retries do not come all at once
    return min(server.backoff_s * 2.0 ** (tries - 1), _LONGEST_BACKOFF_S) * random.uniform(0.75, 1.0)  # noqa: S311
