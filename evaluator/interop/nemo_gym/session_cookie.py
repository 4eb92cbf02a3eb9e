"""Gives each client a session, by a cookie: the requests of one rollout bring the same one."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "rollscope_session"
STATE: Final = "rollscope-session"
"""The header that says `lost` of a session which an earlier process of the server began."""

_ATTRIBUTES: Final = "HttpOnly; Path=/; SameSite=lax"

current_session: ContextVar[str] = ContextVar("current_session", default="")
"""The id of the session whose request is being answered; empty outside of a request."""


class SessionCookie:
    """An ASGI middleware. The id can't be guessed: who knows it may use the session."""

    def __init__(self, app: ASGIApp, not_ours: Callable[[str], None]) -> None:
        """`not_ours` is called with an id that an earlier process of the server has given."""
        self._app = app
        self._not_ours = not_ours
        self._ours = secrets.token_hex(4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        brought = Request(scope).cookies.get(COOKIE)
        session = brought or f"{self._ours}.{secrets.token_urlsafe(24)}"
        lost = not session.startswith(self._ours)
        if lost:
            self._not_ours(session)
        current_session.set(session)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and (lost or not brought):
                name, value = (STATE, "lost") if lost else ("set-cookie", f"{COOKIE}={session}; {_ATTRIBUTES}")
                MutableHeaders(scope=message).append(name, value)
            await send(message)

        await self._app(scope, receive, send_with_cookie)
