"""Requests to models and other servers: bounded in time and size; what fails is told in one line without the key."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final
from urllib.parse import urlsplit

import msgspec

MIB: Final = 2**20
_LONGEST: Final = 300
_TRANSIENT: Final = (408, 409, 429)
_SHORTEST_KEY: Final = 8
"""A shorter key is not a secret, and may be any word."""
_KEPT_OPEN_S: Final = 2.0
"""Shorter than servers keep idle connections, so that none is used while the server closes it."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_OF_OPENAI: Final = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


class NoReplyError(Exception):
    """There is no reply, but a retry may get one. The message is one line. `listens`: whether a server was reached."""

    def __init__(self, message: str, *, listens: bool = True) -> None:
        super().__init__(one_line(message))
        self.listens = listens


class ImpossibleRequestError(Exception):
    """The request can't be sent to any server. One line."""


class Reply(msgspec.Struct, frozen=True):
    """A reply of any status."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    cookies: dict[str, str]
    cut: bool
    """Whether the body is only the start of one that is too large."""

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def retry_after_s(self) -> float | None:
        return retry_after_s(self.headers.get("retry-after"))


class Caller:
    """Calls one server. It keeps no cookies and follows no redirect. For one event loop."""

    def __init__(self, who: str, address: str, key: str = "") -> None:
        """`who`: the server's name in messages. `key`: of OpenAI's kind. Needs httpx2."""
        import httpx2

        parts = urlsplit(address)
        headers = {"content-type": "application/json", "accept": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {key}"
            headers |= {name: os.environ[variable] for variable, name in _OF_OPENAI.items() if os.environ.get(variable)}
        self.who = who
        self.host = parts.netloc.rpartition("@")[2]
        self._address = address.rstrip("/")
        self._key = key
        self._client = httpx2.AsyncClient(
            headers=headers,
            timeout=None,  # the whole request has one limit, in `send`
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_OPEN_S),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=parts.hostname not in _LOOPBACK,  # a proxy can't reach this machine's own servers
        )

    async def send(
        self,
        method: str,
        path: str,
        content: bytes = b"",
        *,
        timeout_s: float,
        most: int,
        cookies: Mapping[str, str] | None = None,
    ) -> Reply:
        """`timeout_s`: from connecting to the last byte. `most`: bytes of a body; the rest is not read.

        Raises `NoReplyError`, `ImpossibleRequestError`.
        """
        import httpx2

        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())} if cookies else {}
        body = bytearray()
        try:
            async with (
                asyncio.timeout(timeout_s),
                self._client.stream(method, self._address + path, content=content, headers=headers) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > most:
                        break
        except (TimeoutError, httpx2.TimeoutException):
            raise NoReplyError(f"{self.who} did not answer in {timeout_s:g} s") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, UnicodeError) as error:
            raise ImpossibleRequestError(f"{self.who} can't be called: {self.shown(_why(error))}") from None
        except httpx2.HTTPError as error:
            message = f"the connection to {self.who} at {self.host} failed: {self.shown(_why(error))}"
            raise NoReplyError(message, listens=not isinstance(error, httpx2.ConnectError)) from None
        given = (header.partition(";")[0].partition("=") for header in response.headers.get_list("set-cookie"))
        new_cookies = {name.strip(): value.strip() for name, _, value in given}
        return Reply(response.status_code, bytes(body[:most]), response.headers, new_cookies, len(body) > most)

    def without_key(self, text: str) -> str:
        """The text without the key, which some servers quote."""
        return text.replace(self._key, "[key]") if len(self._key) >= _SHORTEST_KEY else text

    def shown(self, text: str, longest: int = _LONGEST) -> str:
        """The start of a server's text, on one line and without the key."""
        return one_line(self.without_key(text), longest)

    async def close(self) -> None:
        await self._client.aclose()


class Backoff(msgspec.Struct, frozen=True):
    """How often to retry and how long to wait: twice as long each time, minus a random part of up to half."""

    retries: int = 8
    first_s: float = 0.5
    longest_s: float = 30.0

    def seconds(self, retry: int) -> float:
        """The wait before a retry; the first is 0."""
        spread = random.uniform(0.5, 1.0)  # noqa: S311 - so that retries do not come all at once
        return min(self.longest_s, self.first_s * 2.0 ** min(retry, 60)) * spread


def is_transient(status: int) -> bool:
    """Whether a retry may get another status."""
    return status in _TRANSIENT or status >= 500


def retry_after_s(header: str | None) -> float | None:
    """How long a server asks to wait, from a `Retry-After` with seconds or a date; None if it is neither."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if seconds == seconds else None  # noqa: PLR0124 - excludes NaN


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text with its white space folded and without control characters, cut at its limit."""
    folded = " ".join(text[: 8 * longest].split())
    shown = "".join(character if character.isprintable() else "?" for character in folded)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
