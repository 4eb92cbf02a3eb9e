"""`rollscope serve`: answers over HTTP as another system's server would, with Rollscope's sandbox behind it."""

from __future__ import annotations

import signal
import socket
import sys
import tomllib
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from evaluator.commands.failure import CommandError, Exit
from evaluator.model import RecordError, limits_from

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from evaluator.model import Limits

System = Literal["agentfly", "colossalai"]

_LOOPBACK_NAMES: Final = ("127.0.0.1", "::1", "localhost")
_LOOPBACK_HEADERS: Final = ("127.0.0.1", "[::1]", "::1", "localhost")
_ENDS_WITHIN_S: Final = 1
_BACKLOG: Final = 2048


def serve(system: System, *, host: str, port: int, config: Path | None) -> int:
    """Serves until it is stopped; `port` 0 is any free one. Raises `SandboxUnavailable` before it listens."""
    application = _application(system, config)
    _prove_sandbox()
    with _listening(host, port) as listener:
        _run(application, listener, host)
    return Exit.DONE


def _application(system: System, config: Path | None) -> Starlette:
    if system == "agentfly":
        from evaluator.interop.agentfly import server as agentfly
        from evaluator.interop.agentfly.execution import LIMITS

        return agentfly.application(_limits(config, LIMITS) if config else LIMITS)
    if config is not None:
        raise CommandError(f"--config {config}: `serve {system}` has nothing to configure: leave it out")
    from evaluator.interop.colossalai import server as colossalai

    return colossalai.application()


def _limits(config: Path, defaults: Limits) -> Limits:
    """The `[limits]` of a TOML file, over the defaults."""
    try:
        content = tomllib.loads(config.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{config}: not TOML: {error}") from None
    limits = content.pop("limits", {})
    if content or not isinstance(limits, dict):
        raise CommandError(f"{config}: it has {', '.join(content) or 'limits'}: give one table, [limits]")
    try:
        return limits_from(msgspec.structs.asdict(defaults) | limits)
    except RecordError as error:
        raise CommandError(f"{config}: {error}") from None


def _listening(host: str, port: int) -> socket.socket:
    """Who connects before there is somebody to answer waits."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)
    except socket.gaierror:
        bound.close()
        raise CommandError(f"--host {host}: not an address of this machine") from None
    except OSError as error:
        bound.close()
        if error.errno in (99, 22):  # EADDRNOTAVAIL, EINVAL
            raise CommandError(f"--host {host}: not an address of this machine") from None
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"port {port} of {host} can't be had ({reason}): give another --port, or 0") from None
    return bound


def _prove_sandbox() -> None:
    from evaluator.engines import pool
    from evaluator.sandbox import Settings

    with pool.lease(Settings()):
        return


def _run(application: Starlette, listener: socket.socket, host: str) -> None:
    import uvicorn
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(f"listening on {_url(host, listener)}", flush=True)
            if host not in _LOOPBACK_NAMES:
                print("other machines can reach this server: it has no password", file=sys.stderr, flush=True)

    if host in _LOOPBACK_NAMES:
        # Else a page of somebody else's, whose name is made to point here, could have code run.
        application.add_middleware(TrustedHostMiddleware, allowed_hosts=[*_LOOPBACK_HEADERS], www_redirect=False)
    config = uvicorn.Config(
        application, log_level="critical", access_log=False, lifespan="off", backlog=_BACKLOG,
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
