"""Asks a judge for a score: from the cache, else by calls, as often and as many at once as is allowed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from typing import Final

import msgspec

from evaluator.graders.judge import cache
from evaluator.graders.judge.call import Question, Server, call, client_for
from evaluator.graders.judge.event_loop import GivenUp, Line, line
from evaluator.graders.judge.failures import CallError, JudgeError
from evaluator.graders.judge.score import ScoreError, score_of

LONGEST_WAIT_S: Final = 60.0
"""A server that asks to wait for longer is not asked again."""
_LONGEST_BACKOFF_S: Final = 8.0
_FORM: Final = 1
"""Of what is kept: a change of what an answer is kept under makes it another number."""


class Patience(msgspec.Struct, frozen=True):
    """How a judge is asked. Seconds and counts."""

    timeout_s: float
    """Of one call, from connecting to the last byte."""
    retries: int
    backoff_s: float
    """Before the first retry; twice as long before each further one, up to 8 s."""
    concurrency: int


class Judgement(msgspec.Struct, frozen=True):
    """A score from 0 to the scale, and all that the judge said."""

    score: float
    text: str


def judge(
    server: Server, question: Question, scale: float, patience: Patience, *, cached: bool, given_up: GivenUp
) -> Judgement:
    """The judgement. Raises `JudgeError` when there is none, `GivenUpError` when it is not wanted any more.

    With `cached`, what was judged before is not asked again, and what several threads ask at once is asked once.
    """
    own = line()

    def ask() -> Judgement:
        return own.run(_ask(own, server, question, scale, patience), given_up)

    if not cached:
        return ask()
    key = _digest(server, question, scale)
    return own.once(key, lambda: _known(key, scale) or _kept(key, ask()), given_up)


def _known(key: bytes, scale: float) -> Judgement | None:
    text = cache.get(key)
    if text is None:
        return None
    try:
        return Judgement(score_of(text, scale), text)
    except ScoreError:  # kept by nobody of ours
        return None


def _kept(key: bytes, judgement: Judgement) -> Judgement:
    cache.put(key, judgement.text)
    return judgement


def _digest(server: Server, question: Question, scale: float) -> bytes:
    asked = [_FORM, server.address, question.model, question.messages, question.options, scale]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


async def _ask(own: Line, server: Server, question: Question, scale: float, patience: Patience) -> Judgement:
    client = own.clients.get((server.address, server.key))
    if client is None:
        client = own.clients[server.address, server.key] = client_for(server)
    async with own.call(server.address, patience.concurrency):
        for tries in range(1, patience.retries + 2):
            try:
                text = await call(client, server, question, patience.timeout_s)
                return Judgement(score_of(text, scale), text)
            except ScoreError as error:
                failed = CallError(f"the judge gave no score: {error}", again=True)
            except CallError as error:
                failed = error
            if not failed.again or tries > patience.retries:
                break
            if (failed.wait_s or 0) > LONGEST_WAIT_S:
                raise JudgeError(f"{failed}; it asks to wait for {failed.wait_s:.0f} s")
            # The place is kept: who is told to come later does not make room for others.
            await asyncio.sleep(_wait_s(tries, failed, patience))
        raise JudgeError(f"{failed} ({tries} tries)" if tries > 1 else str(failed))


def _wait_s(tries: int, failed: CallError, patience: Patience) -> float:
    if failed.wait_s is not None:
        return failed.wait_s
    # not all at the same moment
    return min(patience.backoff_s * 2.0 ** (tries - 1), _LONGEST_BACKOFF_S) * random.uniform(0.75, 1.0)  # noqa: S311
