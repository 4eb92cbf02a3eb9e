"""The resources server: a session for each rollout, its tools, and the verdict at the end.

A server that restarts loses its sessions. A rollout without tool calls is then seeded again; one with tool calls starts
again (`SessionLostError`), unless the server verifies without a session (`/reverify_mode`) and only that is left.
"""

from __future__ import annotations

import asyncio
import math
import re
from contextlib import suppress
from typing import Final

from evaluator.formats.json_text import JsonError
from evaluator.interop.nemo_gym.collecting.transport import (
    HOPELESS,
    CollectError,
    FailureClass,
    Reply,
    Retries,
    RolloutError,
    SessionLostError,
    TransientError,
    Transport,
    UnreachableError,
    encoded,
    is_transient,
    one_line,
    reason_in,
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
_SERVER: Final = "the resources server"


class ResourcesServer:
    """One server, for all rollouts."""

    def __init__(self, address: str, timeout_s: float, retries: Retries) -> None:
        """`timeout_s`: seconds for one request; verifying may take long."""
        kind = FailureClass.TRANSPORT_UNREACHABLE
        self.transport = Transport(_SERVER, address, timeout_s=timeout_s, kind=kind)
        self.retries = retries
        self.stateless = False
        """Whether a rollout can be verified without its session."""
        self.ends = 0
        """How often the server was unreachable."""
        self.closes = True
        """Whether it has `/close_session`, which NeMo Gym before 0.7 has not."""
        self.verified = False
        """Whether it has verified a rollout."""

    async def greet(self) -> None:
        """Finds out whether it runs, and whether it needs sessions to verify. Raises `CollectError`."""
        try:
            reply = await self.transport.send("GET", "/reverify_mode")
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
        reply = await self.retries.run(lambda: self.post("/aggregate_metrics", body))
        if reply.status in (404, 405):
            return None
        value = _value(reply)
        if reply.status != 200 or not isinstance(value, dict):
            raise self.refusal(reply, "/aggregate_metrics")
        return value

    async def post(self, path: str, content: bytes) -> Reply:
        """One request without a session. Raises `TransientError` if a retry may succeed."""
        return self.permanent(await self.send(path, content, {}), path)

    def permanent(self, reply: Reply, path: str) -> Reply:
        """The reply. Raises `TransientError` if a retry may give another one."""
        if is_transient(reply.status):
            kind, message = FailureClass.VERIFIER_ERROR, self._refused(reply, path)
            raise TransientError(kind, message, status=reply.status, wait_s=reply.retry_after_s)
        return reply

    async def send(self, path: str, content: bytes, cookies: dict[str, str]) -> Reply:
        """One request, with a reply of any status. Raises `TransientError` if there is no reply."""
        try:
            return await self.transport.send("POST", path, content, cookies)
        except UnreachableError:
            self.ends += 1
            raise

    def refusal(self, reply: Reply, path: str) -> Exception:
        """The failure for a status that is not a success."""
        message = self._refused(reply, path)
        if reply.status in HOPELESS and not self.verified:
            return CollectError(one_line(f"--server: {message}: give the address of a NeMo Gym resources server"))
        return RolloutError(FailureClass.VERIFIER_ERROR, message, status=reply.status, terminal=True)

    def malformed(self, reply: Reply, path: str) -> RolloutError:
        """The failure for a malformed reply."""
        shown = one_line(reply.text[: 8 * _SHOWN], _SHOWN)
        message = f"{self.transport.who} sent a malformed reply to {path}, not a verified rollout: {shown!r}"
        return RolloutError(FailureClass.VERIFIER_ERROR, message, status=reply.status)

    def _refused(self, reply: Reply, path: str) -> str:
        return f"{self.transport.who} answered {reply.status} to {path}: {reason_in(reply)}"


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
        reply = await self._server.post("/seed_session", encoded(self._row))
        if reply.status != 200:
            raise self._server.refusal(reply, "/seed_session")
        self._cookies |= reply.cookies
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
        if reply.status != 200:
            raise self._server.refusal(reply, "/verify")
        reward = value.get("reward") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(reward, int | float) or not math.isfinite(reward):
            raise self._server.malformed(reply, "/verify")
        self._server.verified = True
        return value | {"reward": float(reward)}

    async def close(self) -> None:
        """Ends the session, and ignores a failure."""
        if not self._server.closes or self._in_doubt:
            return
        with suppress(RolloutError, TimeoutError):
            async with asyncio.timeout(_CLOSES_WITHIN_S):
                reply = await self._server.send("/close_session", b"{}", self._cookies)
                self._server.closes = reply.status not in (404, 405)

    async def _called(self, path: str, content: bytes) -> Reply:
        await self._begin_again_if_lost()
        reply = await self._send(path, content)
        if reply.status in _GATEWAY:
            raise _ToolBusyError(reply)
        return reply

    async def _verified(self, content: bytes) -> Reply:
        if not self._server.stateless:
            await self._begin_again_if_lost()
        return self._server.permanent(await self._send("/verify", content), "/verify")

    async def _begin_again_if_lost(self) -> None:
        if not self._in_doubt and self._server.ends == self._ends_before:
            return
        if self.calls:
            raise SessionLostError
        await self.seed()

    async def _send(self, path: str, content: bytes) -> Reply:
        try:
            reply = await self._server.send(path, content, self._cookies)
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
