"""HTTP requests, limited in time and size."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from evaluator.extras import needs
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.graders.judge import call
from evaluator.model import JsonValue
from evaluator.retry_after import seconds_of

with needs("serve", "collecting rollouts needs httpx2"):
    import httpx2


_LONGEST: Final = 500


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
        super().__init__(one_line(message))
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


class SessionLostError(RolloutError):
    """The resources server lost the effects of the rollout's tool calls: the rollout starts again."""

    def __init__(self) -> None:
        super().__init__(FailureClass.SESSION_LOST, "the resources server lost the session of this rollout")


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text, at most `longest` characters, without line breaks and terminal control characters."""
    return call.one_line(text, longest)


_HOPELESS: Final = (401, 403, 404, 405)
"""Statuses that every other request would get, too, if none has succeeded yet."""
_TRANSIENT: Final = (408, 409, 429)
_LARGEST: Final = 64 * 2**20
_KEPT_OPEN_S: Final = 2.0
"""Shorter than servers keep idle connections, so that none is used while the server closes it."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_JSON: Final = {"content-type": "application/json", "accept": "application/json"}


class UnreachableError(TransientError):
    """No server listens there, or no longer."""


class Reply(msgspec.Struct, frozen=True):
    """A reply of any status."""

    status: int
    body: bytes
    retry_after_s: float | None
    cookies: dict[str, str]
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> JsonValue:
        """The body's value. Raises `JsonError`."""
        return decode_json(self.body)


class Kinds(NamedTuple):
    """The failures of a rollout by what a server did."""

    broken: FailureClass
    """It sent no reply."""
    busy: FailureClass
    """It refused the request for the moment."""
    refused: FailureClass


class Transport:
    """Sends requests to one server. It keeps no cookies."""

    def __init__(
        self, who: str, address: str, *, timeout_s: float, kinds: Kinds, headers: Mapping[str, str] | None = None
    ) -> None:
        """`who`: the server's name in messages. `timeout_s`: seconds for one answer."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CollectError(f"{who}: {address!r} is not an address: give for example http://127.0.0.1:8000")
        self.who = f"{who} at {parts.netloc.rpartition('@')[2]}"
        self.succeeded = False
        """Whether it has done what was asked of it before, so that a refusal is about one request."""
        self._address = address.rstrip("/")
        self._timeout_s = timeout_s
        self._kinds = kinds
        self._client = httpx2.AsyncClient(
            headers=dict(headers or {}),
            timeout=None,  # the whole request has one limit, in `send`
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_OPEN_S),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=parts.hostname not in _LOOPBACK,  # a proxy can't reach this machine's own servers
        )

    def refusal(self, reply: Reply, path: str, status: int | None = None) -> Exception:
        """The failure for a reply that is no success. `status`: None: the reply's own."""
        status = reply.status if status is None else status
        message = f"{self.who} answered {status} to {path}: {self.without_secret(reason_in(reply))}"
        if self.is_hopeless(reply, status):
            return CollectError(one_line(self.with_fix(message, path, status)))
        if is_transient(status):
            return TransientError(self._kinds.busy, message, status=reply.status, wait_s=reply.retry_after_s)
        return RolloutError(self._kinds.refused, message, status=reply.status, terminal=True)

    def is_hopeless(self, reply: Reply, status: int) -> bool:
        """Whether every other request would be refused, too."""
        del reply
        return status in _HOPELESS and not self.succeeded

    def with_fix(self, message: str, path: str, status: int) -> str:
        """The message of a refusal that is hopeless, with what to do."""
        raise NotImplementedError

    def without_secret(self, text: str) -> str:
        """The text without what must not be shown."""
        return text

    async def close(self) -> None:
        await self._client.aclose()

    async def send(
        self, method: str, path: str, content: bytes = b"", cookies: Mapping[str, str] | None = None
    ) -> Reply:
        """Raises `TransientError` if there is no reply (`UnreachableError` if no server listens), `CollectError` if the
        request is impossible."""
        headers = dict(_JSON)
        if cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self._client.stream(method, self._address + path, content=content, headers=headers) as response,
            ):
                return _reply(response, await self._read(response))
        except (TimeoutError, httpx2.TimeoutException):
            raise TransientError(self._kinds.broken, f"{self.who} did not answer in {self._timeout_s:g} s") from None
        except httpx2.ConnectError as error:
            raise UnreachableError(self._kinds.broken, f"{self.who} can't be reached: {_why(error)}") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, UnicodeError) as error:
            raise CollectError(f"can't send a request to {self.who}: {_why(error)}") from None
        except httpx2.HTTPError as error:
            raise TransientError(self._kinds.broken, f"the connection to {self.who} broke: {_why(error)}") from None

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _LARGEST:
                raise TransientError(self._kinds.broken, f"{self.who} sent more than {_LARGEST // 2**20} MiB")
        return bytes(body)


def is_transient(status: int) -> bool:
    """Whether a retry may get another status."""
    return status in _TRANSIENT or status >= 500


def encoded(value: object) -> bytes:
    """JSON on one line, also with half a surrogate pair, which UTF-8 lacks, or with a very large number."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeError, OverflowError, RecursionError, msgspec.MsgspecError):
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def reason_in(reply: Reply) -> str:
    """A refusal's message, from any of the usual fields."""
    try:
        value = reply.json()
    except JsonError:
        return reply.text
    for name in ("error", "detail", "message"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return value if isinstance(value, str) else encoded(value).decode("utf-8", "replace")


def _reply(response: httpx2.Response, body: bytes) -> Reply:
    given = (header.partition(";")[0].partition("=") for header in response.headers.get_list("set-cookie"))
    return Reply(
        status=response.status_code,
        body=body,
        retry_after_s=seconds_of(response.headers.get("retry-after")),
        cookies={name.strip(): value.strip() for name, _, value in given},
        headers=response.headers,
    )


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__


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
