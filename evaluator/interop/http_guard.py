"""Refuses requests that a foreign web page may have sent through a browser, and requests that are too long.

A browser sends what a page asks it to, to any address that it can reach. But it names the page's origin, sends JSON to
another origin only after a preflight request (never granted here), and puts into `Host` the name that it looked up.

| answer | when |
|---|---|
| 400 `{"error"}` | `Host` is not a name of the server |
| 403 `{"error"}` | `Origin` is not the server's own |
| 413 `{"detail"}` | the body is too long, declared or not |
| 415 `{"error"}` | there is a body whose type is not `application/json` |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from evaluator.extras import needs
from evaluator.interop.endpoints import current_receive
from evaluator.interop.host_names import host_name, is_loopback

with needs("serve", "a server needs starlette"):
    from starlette.datastructures import Headers
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MIB: Final = 2**20
_SHOWN: Final = 100
_JSON: Final = "application/json"
_DISCONNECT: Final[Message] = {"type": "http.disconnect"}


class Hosts:
    """The host names of a server."""

    def __init__(self, address: str, allowed: Iterable[str] = ()) -> None:
        """`address`: where it listens. On loopback, its names are loopback's and `allowed`. Elsewhere, `allowed`,
        `address` and loopback's; or any name if none are allowed explicitly."""
        names = {host_name(name) for name in allowed}
        self._names = {*names, address.lower()} if names or is_loopback(address) else None

    def __contains__(self, header: str) -> bool:
        """Whether a `Host` header, with or without a port, has one of the names."""
        if self._names is None:
            return True
        name = _without_port(header).lower()
        return is_loopback(name) or name in self._names


def _without_port(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class Guard:
    """An ASGI middleware; it must be the outermost."""

    def __init__(self, app: ASGIApp, hosts: Hosts, longest: float) -> None:
        """`longest`: MiB, the largest body."""
        self._app = app
        self._hosts = hosts
        self._longest = longest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        token = current_receive.set(receive)
        try:
            await self._answer(scope, receive, send)
        except ClientDisconnect:
            return  # nobody would read an answer
        finally:
            current_receive.reset(token)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        if host not in self._hosts:
            return _refused(400, f"{_shown(host)} is not a name of this server: start it with --allowed-host NAME")
        for origin in headers.getlist("origin"):
            if not _is_own(origin, host):
                return _refused(403, f"{_shown(origin)} is not this server's origin: other pages can't use it")
        length = headers.get("content-length", "0")
        if length == "0" and "transfer-encoding" not in headers:
            return None
        types = [each.partition(";")[0].strip().lower() for each in headers.getlist("content-type")]
        if types != [_JSON]:
            found = f"the content type is {_shown(', '.join(types))}" if types else "there is no content type"
            return _refused(415, f"{found}: send JSON with `content-type: {_JSON}`")
        return self._too_long() if length.isdigit() and self._passes(int(length)) else None

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the application's answer, unless the body turns out too long."""
        read, begun = 0, False

        async def receive_some() -> Message:
            nonlocal read
            message = _DISCONNECT if self._passes(read) else await receive()
            read += len(message.get("body", b""))
            return _DISCONNECT if self._passes(read) else message

        async def send_unless_too_long(message: Message) -> None:
            nonlocal begun
            if begun or not self._passes(read):
                begun = True
                await send(message)

        try:
            await self._app(scope, receive_some, send_unless_too_long)
        except Exception:
            if begun or not self._passes(read):
                raise
        if self._passes(read) and not begun:
            await self._too_long()(scope, receive, send)

    def _passes(self, read: int) -> bool:
        return read > self._longest * MIB

    def _too_long(self) -> JSONResponse:
        return JSONResponse({"detail": f"the request is longer than {self._longest:g} MiB"}, 413)


def _is_own(origin: str, host: str) -> bool:
    scheme, _, name = origin.lower().partition("://")
    return scheme in ("http", "https") and name == host.lower()


def _refused(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)


def _shown(text: str) -> str:
    return repr(text[:_SHOWN])
