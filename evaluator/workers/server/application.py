"""`rollscope serve grades`: grades for other processes and machines, over HTTP; see `wire`.

Whoever can send requests can have programs run, in the sandbox. What they name is never opened here: tasks and
completions come in the request, and graders that are files are refused. It is otherwise where the caller has started
the server for itself (`ray_cluster`).
"""

from __future__ import annotations

import asyncio
import hmac
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Final

from evaluator import long_numbers
from evaluator.extras import needs
from evaluator.graders import grader_or_refusal
from evaluator.model import Task, Verdict
from evaluator.version import VERSION
from evaluator.workers.pool import local_pool
from evaluator.workers.server.wire import (
    PULSE_S,
    Asked,
    GradeLine,
    Request,
    is_for_servers,
    record_in,
    task_in,
    task_key,
    text_of,
)
from evaluator.workers.worker import ungraded
from evaluator.workers.worker_count import worker_count

with needs("serve", "a server needs starlette"):
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

LONGEST: Final = 256.0
"""MiB, the largest request."""
_MOST_PENDING: Final = 16_384
"""Rollouts that wait or run; more are refused for the moment."""
_MOST_TASK_CHARACTERS: Final = 512 << 20


def application(token: str | None = None, *, ours: bool = False) -> Starlette:
    """The server as an ASGI application. `token`: what requests must have in `Authorization: Bearer`; None: nothing.

    `ours`: whether only this user's own process has the token, whose files, sandbox and cache are meant.
    """
    server = _Server(token, ours=ours)
    return Starlette(
        routes=[Route("/", server.greet, methods=["GET"]), Route("/grade", server.grade, methods=["POST"])]
    )


class _RefusedError(Exception):
    """A request that gets this status and one line."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Server:
    def __init__(self, token: str | None, *, ours: bool) -> None:
        self._token = token
        self._ours = ours
        self._tasks = _Tasks()
        self._pending = 0

    async def greet(self, request: HttpRequest) -> Response:
        if not self._is_allowed(request):
            return _error(401, _NOT_ALLOWED)
        return JSONResponse({"rollscope": VERSION, "workers": worker_count()})

    async def grade(self, request: HttpRequest) -> Response:
        if not self._is_allowed(request):
            return _error(401, _NOT_ALLOWED)
        try:
            asked = _asked(await request.body())
            missing = self._tasks.missing(asked)
            if missing:
                return JSONResponse({"missing": missing}, 409)
            pairs = [(each, self._tasks.get(each.task)) for each in asked.rollouts]
            if not self._ours:
                _require_gradable(asked, [task for _, task in pairs])
        except _RefusedError as error:
            return _error(error.status, str(error))
        if self._pending and self._pending + len(pairs) > _MOST_PENDING:
            return _error(503, "it is full")
        return StreamingResponse(self._lines(asked, pairs), media_type="application/x-ndjson")

    def _is_allowed(self, request: HttpRequest) -> bool:
        given = request.headers.get("authorization", "")
        return self._token is None or hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    async def _lines(self, asked: Request, pairs: list[tuple[Asked, Task]]) -> AsyncIterator[bytes]:
        self._pending += len(pairs)
        waiting = {asyncio.ensure_future(_line(each, task, asked)) for each, task in pairs}
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, timeout=PULSE_S, return_when=asyncio.FIRST_COMPLETED)
                yield b"".join([each.result() for each in done]) or b"\n"
        finally:  # the client may have gone
            self._pending -= len(pairs)
            for each in waiting:
                each.cancel()


async def _line(asked: Asked, task: Task, request: Request) -> bytes:
    try:
        grade = await local_pool(request.options).grade(task, asked.rollout, request.options).awaited()
    except Exception as error:  # a fault of this machine, which the others' grades are to survive
        grade = ungraded(asked.rollout, Verdict.SANDBOX_ERROR, str(error) or repr(error))
    return text_of(GradeLine(asked.number, grade)).encode("ascii") + b"\n"


class _Tasks:
    """Those that were sent last."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, tuple[Task, int]] = OrderedDict()
        self._characters = 0

    def missing(self, asked: Request) -> list[str]:
        """Keys of tasks that the request needs and has not, after those that it has were kept."""
        for text in asked.tasks:
            key = task_key(text)
            if key not in self._tasks:
                try:
                    self._tasks[key] = task_in(text), len(text)
                except (ValueError, RecursionError) as error:
                    raise _RefusedError(422, f"a task can't be read: {error}") from None
                self._characters += len(text)
        needed = dict.fromkeys(each.task for each in asked.rollouts)
        missing = [key for key in needed if key not in self._tasks]
        for key in needed.keys() - missing:
            self._tasks.move_to_end(key)
        while self._characters > _MOST_TASK_CHARACTERS and next(iter(self._tasks)) not in needed:
            self._characters -= self._tasks.popitem(last=False)[1][1]
        return missing

    def get(self, key: str) -> Task:
        return self._tasks[key][0]


def _asked(body: bytes) -> Request:
    try:
        found = long_numbers.loads(body.decode("ascii"))
        version = found.get("version") if isinstance(found, dict) else None
        if version != VERSION:
            why = f"this server has Rollscope {VERSION}, and the client {version}: install the same"
            raise _RefusedError(422, why)
        return record_in(body, Request)
    except (ValueError, RecursionError) as error:
        raise _RefusedError(422, f"not a request for grades: {error}") from None


def _require_gradable(asked: Request, tasks: list[Task]) -> None:
    for task in tasks:
        grader = task.grader or asked.options.grader
        if not is_for_servers(grader) or not grader_or_refusal(task, grader).runs_code:
            raise _RefusedError(422, f"grader {grader}: a server only runs code, with Rollscope's own graders")


_NOT_ALLOWED: Final = "the token is missing or wrong: set ROLLSCOPE_SERVER_TOKEN to what its --token-file says"


def _error(status: int, why: str) -> JSONResponse:
    return JSONResponse({"error": why}, status)
