"""Closes the dashboard to other pages of the visitor's browser.

Streamlit takes a websocket from any page of this machine, and lets any page show it in a frame.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette import starlette_app


class OwnPages:
    """An ASGI middleware: refuses a websocket of another page, and says that no page may show ours in a frame."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not _is_own(Headers(scope=scope)):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-frame-options"] = "DENY"
                headers["content-security-policy"] = "frame-ancestors 'none'"
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _is_own(headers: Headers) -> bool:
    return all(urlsplit(origin).netloc == headers.get("host") for origin in headers.getlist("origin"))


def close_to_others() -> None:
    """Before the server starts. Streamlit's public way, `st.App`, reads no config.toml before it starts."""
    given = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [Middleware(OwnPages), *given()]
