"""Gives each client a session by a cookie, which all requests of a rollout send."""

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
"""The header that says `lost` for a session of an earlier process of the server."""

_ID: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)
_ATTRIBUTES: Final = "HttpOnly; Path=/; SameSite=lax"

current_session: ContextVar[str] = ContextVar("current_session", default="")
"""The session id of the current request; empty outside of a request."""


class SessionCookie:
    """An ASGI middleware. The id can't be guessed; whoever knows it may use the session."""

    def __init__(self, app: ASGIApp, not_ours: Callable[[str], None]) -> None:
        """`not_ours`: called with the id of a session of an earlier process."""
        self._app = app
        self._not_ours = not_ours
        self._ours = secrets.token_hex(4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Request(scope).cookies.get(COOKIE, "")
        session = sent if _ID.fullmatch(sent) else f"{self._ours}.{secrets.token_urlsafe(24)}"
        lost = not session.startswith(self._ours)
        if lost:
            self._not_ours(session)
        current_session.set(session)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # In every answer: an agent of NeMo Gym 0.4 sends only the cookies of the last one.
                headers.append("set-cookie", f"{COOKIE}={session}; {_ATTRIBUTES}")
                if lost:
                    headers.append(STATE, "lost")
            await send(message)

        await self._app(scope, receive, send_with_cookie)
