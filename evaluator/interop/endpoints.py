"""What all servers share: which requests they refuse, JSON in and out, and work that ends when its client has gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Executor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from evaluator.extras import needs
from evaluator.tasks import long_numbers
from evaluator.workers.interrupts import Stop

with needs("serve", "a server needs starlette and uvicorn"):
    from starlette.applications import Starlette
    from starlette.datastructures import Headers
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from evaluator.interop.http_server import Hosts

MIB: Final = 2**20
_SHOWN: Final = 100
_JSON: Final = "application/json"
_DISCONNECT: Final[Message] = {"type": "http.disconnect"}

Body = TypeVar("Body")
Result = TypeVar("Result")

current_receive: Final[ContextVar[Receive | None]] = ContextVar("current_receive", default=None)
"""The ASGI `receive` of the current request, which reports a disconnect; `Guard` sets it."""


class AsciiJSON(JSONResponse):
    """JSON in ASCII, since models write half a surrogate pair, which UTF-8 lacks. NaN and infinity become null."""

    def render(self, content: Any) -> bytes:
        try:
            return _compact(content)
        except ValueError:
            return _compact(json.loads(json.dumps(content), parse_constant=lambda _: None))


def service(*routes: Route) -> Starlette:
    """The application with these routes, and `GET /health`, which says that it runs."""
    return Starlette(routes=[*routes, got("/health", {"status": "ok"})])


def got(path: str, content: object) -> Route:
    """The route of a `GET` whose answer is always the same."""

    async def endpoint(_request: Request) -> AsciiJSON:
        return AsciiJSON(content)

    return Route(path, endpoint, methods=["GET"])


def posted(
    path: str,
    kind: type[Body],
    answer: Callable[[Body], Coroutine[Any, Any, object]],
    refusals: Mapping[type[Exception], int],
    *,
    hint: str = "",
) -> Route:
    """The route of a `POST` whose body is JSON of that kind. `answer` returns records, or a response.

    A `ValueError` gets 422, an exception of `refusals` its status; both with the reason in `detail`, which begins with
    `hint` for a body that can't be read.
    """
    statuses: dict[type[Exception], int] = {**refusals, ValueError: 422, RecursionError: 422}

    async def endpoint(request: Request) -> Response:
        try:
            content = await until_disconnect(answer(_read(await request.body(), kind, hint)))
            return content if isinstance(content, Response) else AsciiJSON(msgspec.to_builtins(content))
        except tuple(statuses) as error:
            status = next(status for kind, status in statuses.items() if isinstance(error, kind))
            return AsciiJSON({"detail": str(error)}, status)

    return Route(path, endpoint, methods=["POST"])


def _read(body: bytes, kind: type[Body], hint: str) -> Body:
    try:
        return msgspec.convert(long_numbers.loads(body.decode()), kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{hint}{error}") from None
    except ValueError as error:
        raise ValueError(f"{hint}the body is not JSON: {error}") from None


def require_at_most(name: str, seconds: float, most: float) -> None:
    """Raises `ValueError` for too much time: cutting it would fail a slow completion unnoticed."""
    if seconds > most:
        raise ValueError(f"{name} is {seconds:g} s, above {most:g}: request less, or serve with --max-timeout")


async def until_disconnect(work: Awaitable[Result]) -> Result:
    """Returns or raises what `work` does. Read the request's body first.

    Raises `ClientDisconnect` when the client disconnects: the work is cancelled, as nobody would read the answer.
    """
    working, disconnected = asyncio.ensure_future(work), asyncio.ensure_future(_disconnected())
    try:
        await asyncio.wait((working, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        disconnected.cancel()


async def in_thread(threads: Executor | None, job: Callable[[], Result]) -> Result:
    """Returns or raises what `job` does in a thread; None: of the event loop's own.

    When it is cancelled, a waiting job is dropped, and the sandbox of a running one is killed.
    """
    stop = Stop()
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, lambda: stop.during(job))
    except asyncio.CancelledError:
        stop.request()
        raise


async def _disconnected() -> None:
    """Returns when the client has disconnected."""
    receive = current_receive.get()
    if receive is None:
        await asyncio.Event().wait()
        return
    while (await receive())["type"] != "http.disconnect":
        pass


def _compact(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Guard:
    """An ASGI middleware, the outermost. It refuses what a foreign web page may have sent through a browser, and more.

    A browser sends what a page asks it to, to any address that it can reach. But it names the page's origin, sends JSON
    to another origin only after a preflight request (never granted here), and puts into `Host` the name that it looked
    up.

    | answer | when |
    |---|---|
    | 400 `{"error"}` | `Host` is not a name of the server |
    | 403 `{"error"}` | `Origin` is not the server's own |
    | 413 `{"detail"}` | the body is too long, declared or not |
    | 415 `{"error"}` | there is a body whose type is not `application/json` |
    """

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
