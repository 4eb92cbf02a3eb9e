"""Serves an ASGI application on one address until it is told to stop: Ctrl-C and SIGTERM both end it cleanly."""

from __future__ import annotations

import ipaddress
import re
import signal
import socket
import sys
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Final

from evaluator.extras import needs

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_ENDS_WITHIN_S: Final = 1
_BACKLOG: Final = 2048
_NAME: Final = re.compile(r"[\w.-]+|[0-9a-f:.]+:[0-9a-f:.]*|\[[0-9a-f:.]+\]", re.ASCII)


class AddressError(OSError):
    """The address can't be listened on. One line that says what to give instead."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there, or goes by that name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(name: str) -> str:
    """A name or address as it may stand in a request's `Host`, in small letters. Raises `ValueError`, in one line."""
    small = name.lower()
    if not _NAME.fullmatch(small):
        raise ValueError(f"{name!r}: give a name or an address alone, such as gpu-box")
    return small.strip("[]")


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens: who connects before there is somebody to answer waits. Raises `AddressError`."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)
    except socket.gaierror:
        bound.close()
        raise AddressError(f"--host {host}: not an address of this machine") from None
    except OSError as error:
        bound.close()
        if error.errno in (99, 22):  # EADDRNOTAVAIL, EINVAL
            raise AddressError(f"--host {host}: not an address of this machine") from None
        reason = (error.strerror or str(error)).lower()
        raise AddressError(f"port {port} of {host} can't be had ({reason}): give another --port, or 0") from None
    return bound


def serve(
    application: ASGIApp, listener: socket.socket, host: str, *, longest: float, allowed_hosts: Iterable[str] = ()
) -> None:
    """Answers until SIGINT or SIGTERM comes; prints `listening on URL` once it does.

    `longest`: MiB that a request may have. `allowed_hosts`: see `http_guard.Hosts`.
    """
    with needs("serve", "a server needs starlette and uvicorn"):
        import uvicorn

        from evaluator.interop.http_guard import Guard, Hosts

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(f"listening on {_url(host, listener)}", flush=True)
            if not is_loopback(host):
                print("other machines can reach this server: it has no password", file=sys.stderr, flush=True)

    guarded = Guard(application, Hosts(host, allowed_hosts), longest)
    config = uvicorn.Config(
        guarded, log_level="critical", access_log=False, backlog=_BACKLOG,
        timeout_graceful_shutdown=_ENDS_WITHIN_S, server_header=False, ws="none",
    )  # fmt: skip
    server = Server(config)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        # uvicorn ends by its own handler, and then raises the signal once more, for this one.
        signal.signal(each, stop)
    server.run(sockets=[listener])


def _url(host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104 - what the person asked for
    return f"http://{shown}:{listener.getsockname()[1]}"
