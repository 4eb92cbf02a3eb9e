"""The resources server: a session for each rollout, its tools, and the verdict at the end.

A server that restarts loses its sessions. A rollout without tool calls is then seeded again; one with tool calls starts
again (`SessionLostError`), unless the server verifies without a session (`/reverify_mode`) and only that is left.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from evaluator.formats.reading.json_text import JsonError
from evaluator.interop.nemo_gym.collecting.transport import (
    CollectError,
    FailureClass,
    Kinds,
    Reply,
    Retries,
    RolloutError,
    SessionLostError,
    TransientError,
    Transport,
    UnreachableError,
    encoded,
    one_line,
)
from evaluator.interop.nemo_gym.wire import STATE, JsonObject, ReverifyMode
from evaluator.model import JsonValue

_GATEWAY: Final = (429, 502, 503, 504)
"""Statuses of a gateway in front of a tool, not of the tool."""
_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_NOT_TOOLS: Final = {
    "seed_session", "verify", "aggregate_metrics", "close_session", "reverify_mode", "health", "healthz", "livez",
    "readyz", "run",
}  # fmt: skip
_SHOWN: Final = 120
_CLOSES_WITHIN_S: Final = 10
_KINDS: Final = Kinds(
    broken=FailureClass.TRANSPORT_UNREACHABLE, busy=FailureClass.VERIFIER_ERROR, refused=FailureClass.VERIFIER_ERROR
)
_NOT_THERE: Final = (404, 405)
_SERVER: Final = "the resources server"


class ResourcesServer(Transport):
    """One server, for all rollouts."""

    def __init__(self, address: str, timeout_s: float, retries: Retries) -> None:
        """`timeout_s`: seconds for one request; verifying may take long."""
        super().__init__(_SERVER, address, timeout_s=timeout_s, kinds=_KINDS)
        self.retries = retries
        self.stateless = False
        """Whether a rollout can be verified without its session."""
        self.ends = 0
        """How often the server was unreachable."""
        self.closes = True
        """Whether it has `/close_session`, which NeMo Gym before 0.7 has not."""

    async def greet(self) -> None:
        """Finds out whether it runs, and whether it needs sessions to verify. Raises `CollectError`."""
        try:
            reply = await self.send("GET", "/reverify_mode")
        except TransientError as error:
            raise CollectError(f"--server: {error}: is it running?") from None
        self.stateless = reply.status == 200 and _value(reply) == ReverifyMode.STATELESS.value

    async def begin(self, row: JsonObject) -> Session:
        """A session for a rollout. Raises `RolloutError`, or `CollectError` if this is not a resources server."""
        session = Session(self, row)
        await self.retries.run(session.seed)
        return session

    async def aggregate(self, body: bytes) -> JsonObject | None:
        """The figures of verified rollouts; None if the server can't make them. Raises `RolloutError`."""
        path = "/aggregate_metrics"

        async def asked() -> Reply:
            reply = await self.send("POST", path, body)
            return reply if reply.status in _NOT_THERE else self.accepted(reply, path)

        reply = await self.retries.run(asked)
        if reply.status in _NOT_THERE:
            return None
        value = _value(reply)
        if not isinstance(value, dict):
            raise self.refusal(reply, path)
        return value

    def accepted(self, reply: Reply, path: str) -> Reply:
        """The reply. Raises its `refusal` if it is no success."""
        if reply.status != 200:
            raise self.refusal(reply, path)
        return reply

    async def send(
        self, method: str, path: str, content: bytes = b"", cookies: Mapping[str, str] | None = None
    ) -> Reply:
        try:
            return await super().send(method, path, content, cookies)
        except UnreachableError:
            self.ends += 1
            raise

    def with_fix(self, message: str, path: str, status: int) -> str:
        del path, status
        return f"--server: {message}: give the address of a NeMo Gym resources server"


class Session:
    """The server's session for one rollout, by its cookie."""

    def __init__(self, server: ResourcesServer, row: JsonObject) -> None:
        self._server = server
        self._row = row
        self._cookies: dict[str, str] = {}
        self._ends_before = 0
        self._in_doubt = False
        """Whether a request of this session broke off, or the server said that it does not know it."""
        self.calls = 0
        """Tool calls that the server answered."""

    async def seed(self) -> None:
        """Starts it, or starts it again if nothing was done in it."""
        self._cookies, self._in_doubt = {}, True
        ends = self._server.ends
        reply = await self._server.send("POST", "/seed_session", encoded(self._row))
        self._cookies |= self._server.accepted(reply, "/seed_session").cookies
        self._ends_before, self._in_doubt = ends, False

    async def call(self, name: str, arguments: JsonValue) -> str:
        """A tool's answer, which may be an error's text. Raises `SessionLostError`, `RolloutError`."""
        if not _TOOL.fullmatch(name) or name in _NOT_TOOLS or not name.strip("."):
            return encoded({"error": f"there is no tool named {one_line(name, _SHOWN)!r}"}).decode()
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
        value = _value(reply)
        reward = value.get("reward") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(reward, int | float) or not math.isfinite(reward):
            shown = one_line(reply.text[: 8 * _SHOWN], _SHOWN)
            message = f"{self._server.who} sent a malformed reply to /verify, not a verified rollout: {shown!r}"
            raise RolloutError(FailureClass.VERIFIER_ERROR, message, status=reply.status)
        self._server.succeeded = True
        return value | {"reward": float(reward)}

    async def close(self) -> None:
        """Ends the session, and ignores a failure."""
        if not self._server.closes or self._in_doubt:
            return
        with suppress(RolloutError, TimeoutError):
            async with asyncio.timeout(_CLOSES_WITHIN_S):
                reply = await self._server.send("POST", "/close_session", b"{}", self._cookies)
                self._server.closes = reply.status not in _NOT_THERE

    async def _called(self, path: str, content: bytes) -> Reply:
        await self._begin_again_if_lost()
        reply = await self._send(path, content)
        if reply.status in _GATEWAY:
            raise _ToolBusyError(reply)
        return reply

    async def _verified(self, content: bytes) -> Reply:
        if not self._server.stateless:
            await self._begin_again_if_lost()
        return self._server.accepted(await self._send("/verify", content), "/verify")

    async def _begin_again_if_lost(self) -> None:
        if not self._in_doubt and self._server.ends == self._ends_before:
            return
        if self.calls:
            raise SessionLostError
        await self.seed()

    async def _send(self, path: str, content: bytes) -> Reply:
        try:
            reply = await self._server.send("POST", path, content, self._cookies)
        except TransientError:
            self._in_doubt = True
            raise
        self._cookies |= reply.cookies
        needs_it = path != "/verify" or not self._server.stateless
        if needs_it and reply.headers.get(STATE) == "lost":
            self._in_doubt = True
            raise TransientError(FailureClass.SESSION_LOST, f"{_SERVER} restarted", wait_s=0)
        return reply


class _ToolBusyError(TransientError):
    """A gateway in front of the tool is busy. If it stays so, the model sees its text."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(FailureClass.TRANSPORT_UNREACHABLE, "busy", status=reply.status, wait_s=reply.retry_after_s)
        self.reply = reply


def _value(reply: Reply) -> JsonValue:
    try:
        return reply.json()
    except JsonError:
        return None
