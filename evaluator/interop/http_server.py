"""Serves an ASGI application on one address until Ctrl-C or SIGTERM."""

from __future__ import annotations

import errno
import ipaddress
import re
import signal
import socket
import sys
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from evaluator.extras import needs

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from evaluator.interop.monitoring import Ready

_ENDS_WITHIN_S: Final = 1
_BACKLOG: Final = 2048
_NAME: Final = re.compile(r"[\w.-]+|[0-9a-f:.]+:[0-9a-f:.]*|\[[0-9a-f:.]+\]", re.ASCII)


def is_loopback(host: str) -> bool:
    """Whether a name or an address means this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(name: str) -> str:
    """A host name or address in lower case, as `Host` has it. Raises `ValueError` with one line for anything else."""
    lower = name.lower()
    if not _NAME.fullmatch(lower):
        raise ValueError(f"{name!r}: give only a host name or an address, such as gpu-box")
    return lower.strip("[]")


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


class AddressError(OSError):
    """The server can't listen on the address. One line that says what to give instead."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; early clients wait until `serve` answers. Port 0: any free one. Raises `AddressError`."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        if isinstance(error, socket.gaierror) or error.errno in (errno.EADDRNOTAVAIL, errno.EINVAL):
            raise AddressError(f"--host {host}: not an address of this machine") from None
        reason = (error.strerror or str(error)).lower()
        raise AddressError(f"can't listen on port {port} of {host} ({reason}): give another --port, or 0") from None
    return bound


def serve(
    application: ASGIApp,
    listener: socket.socket,
    host: str,
    *,
    longest: float,
    allowed_hosts: Iterable[str] = (),
    ready: Ready | None = None,
    token: str | None = None,
) -> None:
    """Answers requests until SIGINT or SIGTERM; running requests then have 1 s. Prints `listening on URL` once ready.

    `application`: any of this package's `application(...)` or `setup_webserver()`. `listener`: from `listen`; the
    caller closes it. `host`: the address as given to `listen`. `longest`: the largest request, in MiB; a longer one
    gets 413. `allowed_hosts`: see `Hosts`. Must run in the main thread, since it handles signals. Requests
    need no password, which it says on stderr if `host` is not loopback, unless there is a `token`. `ready`, `token`:
    see `monitoring`.

        with listen("127.0.0.1", 8000) as listener:
            serve(agentfly.server.application(), listener, "127.0.0.1", longest=8)
    """
    with needs("serve", "a server needs starlette and uvicorn"):
        import uvicorn

        from evaluator.interop.endpoints import Guard
        from evaluator.interop.monitoring import Monitor

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(f"listening on {_url(host, listener)}", flush=True)
            if not (token or is_loopback(host)):
                print("other machines can reach this server: it has no password", file=sys.stderr, flush=True)

    guarded = Guard(Monitor(application, ready=ready, token=token), Hosts(host, allowed_hosts), longest)
    config = uvicorn.Config(
        guarded, log_level="critical", access_log=False, backlog=_BACKLOG,
        timeout_graceful_shutdown=_ENDS_WITHIN_S, server_header=False, ws="none",
    )  # fmt: skip
    server = Server(config)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        # uvicorn stops by its own handler, then raises the signal again for this one.
        signal.signal(each, stop)
    server.run(sockets=[listener])


def _url(host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104 - what the user requested
    return f"http://{shown}:{listener.getsockname()[1]}"
