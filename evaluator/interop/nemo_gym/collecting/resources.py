"""The resources server: a session for each rollout, its tools, and the verdict at the end.

A server that is killed and started anew takes the sessions with it. What that means for a rollout depends on what it
has done there: nothing yet, then it is seeded again; tool calls, then it begins anew (`SessionLostError`). Where the
server says that it verifies without a session (`/reverify_mode`), the answer is verified all the same.
"""

from __future__ import annotations

import asyncio
import math
import re
from contextlib import suppress
from typing import Final, Self

from evaluator.formats.json_text import JsonError
from evaluator.interop.nemo_gym.collecting.failures import (
    CollectError,
    FailureClass,
    RolloutError,
    SessionLostError,
    TransientError,
    one_line,
)
from evaluator.interop.nemo_gym.collecting.retries import Retries
from evaluator.interop.nemo_gym.collecting.transport import Reply, Transport, UnreachableError, encoded, told_by
from evaluator.interop.nemo_gym.wire import JsonObject, ReverifyMode
from evaluator.model import JsonValue

SESSION_STATE: Final = "rollscope-session"
"""A header by which a server may say `lost`: the session that the cookie names was an earlier process's."""

_AGAIN: Final = (408, 409, 429)
_GATEWAY: Final = (429, 502, 503, 504)
"""What stands before a tool answers so, not the tool."""
_HOPELESS: Final = (401, 403, 404, 405)
_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_NOT_TOOLS: Final = {
    "seed_session", "verify", "aggregate_metrics", "close_session", "reverify_mode", "health", "healthz", "livez",
    "readyz", "run",
}  # fmt: skip
_SHOWN: Final = 120
_CLOSES_WITHIN_S: Final = 10
_SERVER: Final = "the resources server"


class ResourcesServer:
    """One server, for all rollouts."""

    def __init__(self, address: str, timeout_s: float, retries: Retries) -> None:
        """`timeout_s`: of one request; verifying may take long."""
        kind = FailureClass.TRANSPORT_UNREACHABLE
        self._transport = Transport(_SERVER, address, timeout_s=timeout_s, kind=kind)
        self.retries = retries
        self.stateless = False
        """Whether a rollout can be verified without its session."""
        self.ends = 0
        """How often nobody listened any more."""
        self.closes = True
        """Whether it takes a session's end; before release 0.7 of NeMo Gym servers do not."""
        self.verified = False
        """Whether it has verified a rollout."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.__aexit__()

    async def greet(self) -> None:
        """Finds out whether it is there, and whether it needs sessions to verify. Raises `CollectError`."""
        try:
            reply = await self._transport.get("/reverify_mode")
        except TransientError as error:
            raise CollectError(f"--server: {error}: is it running?") from None
        self.stateless = reply.status == 200 and _said(reply) == ReverifyMode.STATELESS.value

    async def begin(self, row: JsonObject) -> Session:
        """A session for a rollout. Raises `RolloutError`, or `CollectError` where this is no such server."""
        session = Session(self, row)
        await self.retries.run(session.seed)
        return session

    async def aggregate(self, body: bytes) -> JsonObject | None:
        """The figures of verified rollouts; None where the server has none. Raises `RolloutError`."""
        reply = await self.retries.run(lambda: self.asked("/aggregate_metrics", body, {}))
        if reply.status in (404, 405):
            return None
        value = _said(reply)
        if reply.status != 200 or not isinstance(value, dict):
            raise self.refusal(reply, "/aggregate_metrics")
        return value

    async def asked(self, path: str, content: bytes, cookies: dict[str, str]) -> Reply:
        """One request. Raises `TransientError` for what may go well the next time."""
        reply = await self.sent(path, content, cookies)
        if reply.status in _AGAIN or reply.status >= 500:
            raise TransientError(
                FailureClass.VERIFIER_ERROR, self._told(reply, path), status=reply.status, wait_s=reply.retry_after_s
            )
        return reply

    async def sent(self, path: str, content: bytes, cookies: dict[str, str]) -> Reply:
        """One request, with whatever status comes back. Raises `TransientError` where nothing does."""
        try:
            return await self._transport.post(path, content, cookies)
        except UnreachableError:
            self.ends += 1
            raise

    def refusal(self, reply: Reply, path: str) -> Exception:
        """What a status that is no success means."""
        told = self._told(reply, path)
        if reply.status in _HOPELESS and not self.verified:
            return CollectError(one_line(f"--server: {told}: give the address of a NeMo Gym resources server"))
        return RolloutError(FailureClass.VERIFIER_ERROR, told, status=reply.status, terminal=True)

    def nonsense(self, reply: Reply, path: str) -> RolloutError:
        """What a success that says nothing usable means."""
        shown = one_line(reply.text[: 8 * _SHOWN], _SHOWN)
        message = f"what {self._transport.who} answered to {path} is no verified rollout: {shown!r}"
        return RolloutError(FailureClass.VERIFIER_ERROR, message, status=reply.status)

    def _told(self, reply: Reply, path: str) -> str:
        return f"{self._transport.who} answered {reply.status} to {path}: {told_by(reply)}"


class Session:
    """What the server keeps for one rollout, by its cookie."""

    def __init__(self, server: ResourcesServer, row: JsonObject) -> None:
        self._server = server
        self._row = row
        self._cookies: dict[str, str] = {}
        self._ends_before = 0
        self._in_doubt = False
        """Whether a request of this session broke off, or the server said that it does not know it."""
        self.calls = 0
        """Tool calls that the server has answered."""

    async def seed(self) -> None:
        """Begins it, or begins it again where nothing was done in it."""
        self._cookies, self._in_doubt = {}, True
        ends = self._server.ends
        reply = await self._server.asked("/seed_session", encoded(self._row), {})
        if reply.status != 200:
            raise self._server.refusal(reply, "/seed_session")
        self._cookies |= reply.cookies
        self._ends_before, self._in_doubt = ends, False

    async def call(self, name: str, arguments: JsonValue) -> str:
        """What a tool answers, an error's text too. Raises `SessionLostError`, `RolloutError`."""
        if not _TOOL.fullmatch(name) or name in _NOT_TOOLS or not name.strip("."):
            return encoded({"error": f"there is no tool of the name {one_line(name, _SHOWN)!r}"}).decode()
        content = encoded(arguments)
        try:
            reply = await self._server.retries.run(lambda: self._called(f"/{name}", content))
        except _ToolBusyError as busy:
            reply = busy.reply
        self.calls += 1
        return reply.text

    async def verify(self, response: JsonObject) -> JsonObject:
        """The verified rollout. Raises `SessionLostError`, `RolloutError`."""
        content = encoded(self._row | {"response": response})
        reply = await self._server.retries.run(lambda: self._verified(content))
        value = _said(reply)
        if reply.status != 200:
            raise self._server.refusal(reply, "/verify")
        reward = value.get("reward") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(reward, int | float) or not math.isfinite(reward):
            raise self._server.nonsense(reply, "/verify")
        self._server.verified = True
        return value | {"reward": float(reward)}

    async def close(self) -> None:
        """Lets the server forget it. One that can't, or has ended, is no matter."""
        if not self._server.closes or self._in_doubt:
            return
        with suppress(RolloutError, TimeoutError):
            async with asyncio.timeout(_CLOSES_WITHIN_S):
                reply = await self._server.sent("/close_session", b"{}", self._cookies)
                self._server.closes = reply.status not in (404, 405)

    async def _called(self, path: str, content: bytes) -> Reply:
        await self._begin_again_if_lost()
        reply = await self._sent(path, content)
        if reply.status in _GATEWAY:
            raise _ToolBusyError(reply)
        return reply

    async def _verified(self, content: bytes) -> Reply:
        if not self._server.stateless:
            await self._begin_again_if_lost()
        reply = await self._sent("/verify", content)
        if reply.status in _AGAIN or reply.status >= 500:
            raise TransientError(
                FailureClass.VERIFIER_ERROR,
                f"{_SERVER} answered {reply.status} to /verify: {told_by(reply)}",
                status=reply.status,
                wait_s=reply.retry_after_s,
            )
        return reply

    async def _begin_again_if_lost(self) -> None:
        if not self._in_doubt and self._server.ends == self._ends_before:
            return
        if self.calls:
            raise SessionLostError
        await self.seed()

    async def _sent(self, path: str, content: bytes) -> Reply:
        try:
            reply = await self._server.sent(path, content, self._cookies)
        except TransientError:
            self._in_doubt = True
            raise
        self._cookies |= reply.cookies
        needs_it = path != "/verify" or not self._server.stateless
        if needs_it and reply.headers.get(SESSION_STATE) == "lost":
            self._in_doubt = True
            raise TransientError(FailureClass.SESSION_LOST, f"{_SERVER} was started anew", wait_s=0)
        return reply


class _ToolBusyError(TransientError):
    """What stands before the tool can't serve it now. When that does not pass, the model sees its text."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(FailureClass.TRANSPORT_UNREACHABLE, "busy", status=reply.status, wait_s=reply.retry_after_s)
        self.reply = reply


def _said(reply: Reply) -> JsonValue:
    try:
        return reply.json()
    except JsonError:
        return None
