"""A server that a collection asks: what is asked again, and the failures of a rollout."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import ClassVar, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from evaluator.extras import needs
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.http_calls import (
    MIB,
    Backoff,
    Caller,
    ImpossibleRequestError,
    NoReplyError,
    Reply,
    is_transient,
    one_line,
)
from evaluator.model import JsonValue

Result = TypeVar("Result")

_HOPELESS: Final = (401, 403, 404, 405)
"""Statuses that every other request would get, too, if none has succeeded yet."""
_LARGEST: Final = 64 * MIB
_LONGEST: Final = 500
_SHOWN: Final = 120
_LONGEST_REQUESTED_S: Final = 600.0
"""The longest wait that a server can request."""


class FailureClass(StrEnum):
    """The values of `_ng_failure_class`, as in `nemo_gym/failure_kinds.py` (release 0.7.0)."""

    AGENT_REQUEST_FAILED = "agent_request_failed"
    """The model gave no answer: no connection, a time-out, or an overloaded endpoint."""
    AGENT_RUN_ERROR = "agent_run_error"
    """The endpoint refused this request or sent a malformed reply."""
    TRANSPORT_UNREACHABLE = "transport_unreachable"
    """The resources server could not be reached."""
    VERIFIER_ERROR = "verifier_error"
    """The resources server refused the rollout or sent a malformed reply."""
    SESSION_LOST = "session_lost"
    """The resources server restarted again and again during the rollout."""


class CollectError(Exception):
    """The collection can't start or continue. One line: what is wrong, and how to fix it."""


class RolloutError(Exception):
    """One rollout failed. The message is one line, without a key."""

    def __init__(self, kind: FailureClass, message: str, *, status: int | None = None, terminal: bool = False) -> None:
        super().__init__(one_line(message, _LONGEST))
        self.kind = kind
        self.status = status
        """Of the HTTP answer, if there was one."""
        self.terminal = terminal
        """Whether the same request would be refused again."""


class TransientError(RolloutError):
    """A retry of the request may succeed. `wait_s`: seconds that the server asks to wait first."""

    def __init__(
        self, kind: FailureClass, message: str, *, status: int | None = None, wait_s: float | None = None
    ) -> None:
        super().__init__(kind, message, status=status)
        self.wait_s = wait_s


class Retries:
    """Makes and counts the retries of one collection."""

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self.count = 0

    async def run(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        """Returns or raises what `ask` does; `TransientError` only after the last retry."""
        for retry in range(self._backoff.retries):
            try:
                return await ask()
            except TransientError as again:
                self.count += 1
                own, requested = self._backoff.seconds(retry), again.wait_s
                await asyncio.sleep(own if requested is None else min(requested, _LONGEST_REQUESTED_S))
        return await ask()


class Service:
    """One server, for all rollouts."""

    broken: ClassVar[FailureClass]
    """The failure of a rollout if the server sent no reply."""
    busy: ClassVar[FailureClass]
    """... if it refused the request for the moment."""
    refused: ClassVar[FailureClass]
    """... if it refused the request for good, or sent a malformed reply."""

    def __init__(self, who: str, address: str, key: str, timeout_s: float, retries: Retries) -> None:
        """`who`: the server's name in messages. `timeout_s`: seconds for one answer. Raises `CollectError`."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CollectError(f"{who}: {address!r} is not an address: give for example http://127.0.0.1:8000")
        with needs("serve", "collecting rollouts needs httpx2"):
            self.caller = Caller(who, address, key)
        self.retries = retries
        self.succeeded = False
        """Whether it has done what was asked of it before, so that a refusal is about one request."""
        self.ends = 0
        """How often nothing listened."""
        self._timeout_s = timeout_s

    async def send(
        self, path: str, content: bytes = b"", cookies: Mapping[str, str] | None = None, *, method: str = "POST"
    ) -> Reply:
        """Raises `TransientError` if there is no reply, `CollectError` if the request is impossible."""
        try:
            reply = await self.caller.send(
                method, path, content, timeout_s=self._timeout_s, most=_LARGEST, cookies=cookies
            )
        except NoReplyError as error:
            self.ends += not error.listens
            raise TransientError(self.broken, str(error)) from None
        except ImpossibleRequestError as error:
            raise CollectError(str(error)) from None
        if reply.cut:
            raise TransientError(self.broken, f"{self.caller.who} sent more than {_LARGEST // MIB} MiB")
        return reply

    def refusal(self, reply: Reply, path: str, status: int | None = None) -> Exception:
        """The failure for a reply that is no success. `status`: None: the reply's own."""
        status = reply.status if status is None else status
        message = f"{self.caller.who} answered {status} to {path}: {self.caller.shown(_reason(reply))}"
        if self.is_hopeless(reply, status):
            return CollectError(self.with_fix(message, path, status))
        if is_transient(status):
            return TransientError(self.busy, message, status=reply.status, wait_s=reply.retry_after_s)
        return RolloutError(self.refused, message, status=reply.status, terminal=True)

    def malformed(self, text: str, why: str, status: int | None = None) -> RolloutError:
        """The failure for a reply that is not what was asked for."""
        shown = self.caller.shown(text, _SHOWN)
        return RolloutError(self.refused, f"{self.caller.who} sent a malformed reply{why} ({shown!r})", status=status)

    def is_hopeless(self, reply: Reply, status: int) -> bool:
        """Whether every other request would be refused, too."""
        del reply
        return status in _HOPELESS and not self.succeeded

    def with_fix(self, message: str, path: str, status: int) -> str:
        """The message of a refusal that is hopeless, with what to do."""
        raise NotImplementedError


def encoded(value: object) -> bytes:
    """JSON on one line, also with half a surrogate pair, which UTF-8 lacks, or with a very large number."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeError, OverflowError, RecursionError, msgspec.MsgspecError):
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def value_of(reply: Reply) -> JsonValue:
    """The reply's JSON; None for anything else."""
    try:
        return decode_json(reply.body)
    except JsonError:
        return None


def _reason(reply: Reply) -> str:
    """A refusal's message, from any of the usual fields."""
    value = value_of(reply)
    if value is None:
        return reply.text
    for name in ("error", "detail", "message"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return value if isinstance(value, str) else encoded(value).decode("utf-8", "replace")
