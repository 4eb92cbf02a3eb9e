"""Closes the dashboard to other pages of the visitor's browser, and colours the page before Streamlit has loaded.

Streamlit takes a websocket from any page of this machine, and lets any page show it in a frame. Its page is white until
its scripts have run.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette import starlette_app

_HEAD = b"<head>"
_FIRST_LOOK = b"""<style>
@media (prefers-color-scheme: dark) { html { background: #14171A; color: #9AA4AD; } }
#root:empty::before { content: "Rollscope is loading"; position: fixed; left: 268px; top: 20px; font: 14px sans-serif; }
#root:empty::after { content: ""; position: fixed; inset: 0 auto 0 0; width: 252px; background: #8882; }
</style>"""
"""The page's background and its sidebar's, as in .streamlit/config.toml."""


class OwnPages:
    """An ASGI middleware: refuses a websocket of another page, says that no page may show ours in a frame, and gives
    pages their first look."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not _is_own(Headers(scope=scope)):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return

        is_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        if is_page:  # as it is: what is packed can't be added to
            del (asked := MutableHeaders(scope=scope))["accept-encoding"]
            scope = {**scope, "headers": asked.raw}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-frame-options"] = "DENY"
                headers["content-security-policy"] = "frame-ancestors 'none'"
                if is_page and headers.get("content-type", "").startswith("text/html"):
                    del headers["content-length"]
            elif is_page and _HEAD in (body := message.get("body", b"")):
                message["body"] = body.replace(_HEAD, _HEAD + _FIRST_LOOK, 1)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _is_own(headers: Headers) -> bool:
    return all(urlsplit(origin).netloc == headers.get("host") for origin in headers.getlist("origin"))


def close_to_others() -> None:
    """Before the server starts. Streamlit's public way, `st.App`, reads no config.toml before it starts."""
    given = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [Middleware(OwnPages), *given()]
