"""Gives each client a session, by a cookie: the requests of one rollout bring the same one."""

from __future__ import annotations

import re
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

_ID: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)
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
        brought = Request(scope).cookies.get(COOKIE, "")
        session = brought if _ID.fullmatch(brought) else f"{self._ours}.{secrets.token_urlsafe(24)}"
        lost = not session.startswith(self._ours)
        if lost:
            self._not_ours(session)
        current_session.set(session)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # With every answer: an agent of NeMo Gym 0.4 brings what the last one gave, and nothing else.
                headers.append("set-cookie", f"{COOKIE}={session}; {_ATTRIBUTES}")
                if lost:
                    headers.append(STATE, "lost")
            await send(message)

        await self._app(scope, receive, send_with_cookie)
