"""`rollscope serve grades`: grades for other processes and machines, over HTTP; see `wire`.

Whoever can send requests can have programs run, in the sandbox. What they name is never opened here: tasks and
completions come in the request, and graders that are files are refused. It is otherwise where the caller has started
the server for itself (`ray_cluster`).
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator
from typing import Final

import msgspec

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
    loads,
    task_in,
    task_key,
    text_of,
)
from evaluator.workers.worker import ungraded
from evaluator.workers.worker_count import worker_count

with needs("serve", "a server needs starlette"):
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

LONGEST: Final = 256.0
"""MiB, the largest request."""
_MOST_PENDING: Final = 16_384
"""Rollouts that wait or run; more are refused for the moment."""
_MOST_TASK_CHARACTERS: Final = 512 << 20
NOT_ALLOWED: Final = "the token is missing or wrong: set ROLLSCOPE_SERVER_TOKEN to what its --token-file says"


def application(token: str | None = None, *, ours: bool = False) -> Starlette:
    """The server as an ASGI application. `token`: what requests must have in `Authorization: Bearer`; None: nothing.

    `ours`: whether only this user's own process has the token, whose files, sandbox and cache are meant.
    """
    server = _Server(token, ours=ours)
    routes = [Route("/", server.greet, methods=["GET"]), Route("/grade", server.grade, methods=["POST"])]
    return Starlette(routes=routes, exception_handlers={HTTPException: _refused})


def is_allowed(authorization: bytes, token: str | None) -> bool:
    """Whether a request with this header has the token, if there is one."""
    return token is None or hmac.compare_digest(authorization, f"Bearer {token}".encode())


async def _refused(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)


class _Server:
    def __init__(self, token: str | None, *, ours: bool) -> None:
        self._token = token
        self._ours = ours
        self._tasks: dict[str, Task] = {}
        """Those that were sent, by key."""
        self._characters = 0
        self._pending = 0

    async def greet(self, request: HttpRequest) -> Response:
        self._require_token(request)
        return JSONResponse({"rollscope": VERSION, "workers": worker_count()})

    async def grade(self, request: HttpRequest) -> Response:
        self._require_token(request)
        asked = _asked(await request.body())
        self._keep_tasks(asked)
        missing = [key for key in dict.fromkeys(each.task for each in asked.rollouts) if key not in self._tasks]
        if missing:
            return JSONResponse({"missing": missing}, 409)
        pairs = [(each, self._tasks[each.task]) for each in asked.rollouts]
        if not self._ours:
            _require_gradable(asked, [task for _, task in pairs])
        if self._pending and self._pending + len(pairs) > _MOST_PENDING:
            raise HTTPException(503, "it is full")
        return StreamingResponse(self._lines(asked, pairs), media_type="application/x-ndjson")

    def _require_token(self, request: HttpRequest) -> None:
        if not is_allowed(request.headers.get("authorization", "").encode(), self._token):
            raise HTTPException(401, NOT_ALLOWED)

    def _keep_tasks(self, asked: Request) -> None:
        """Without those of before where these would be too many."""
        if self._characters + sum(map(len, asked.tasks)) > _MOST_TASK_CHARACTERS:
            self._tasks.clear()
            self._characters = 0
        for text in asked.tasks:
            key = task_key(text)
            if key not in self._tasks:
                try:
                    self._tasks[key] = task_in(text)
                except (ValueError, RecursionError) as error:
                    raise HTTPException(422, f"a task can't be read: {error}") from None
                self._characters += len(text)

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


def _asked(body: bytes) -> Request:
    try:
        found = loads(body.decode("ascii"))
        version = found.get("version") if isinstance(found, dict) else None
        if version != VERSION:
            why = f"this server has Rollscope {VERSION}, and the client {version}: install the same"
            raise HTTPException(422, why)
        return msgspec.convert(found, Request)
    except ValueError as error:
        raise HTTPException(422, f"not a request for grades: {error}") from None


def _require_gradable(asked: Request, tasks: list[Task]) -> None:
    for task in tasks:
        grader = task.grader or asked.options.grader
        if not is_for_servers(grader) or not grader_or_refusal(task, grader).runs_code:
            raise HTTPException(422, f"grader {grader}: a server only runs code, with Rollscope's own graders")
