"""`rollscope serve`: grades over HTTP, with our own contract or in place of another system's server."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from evaluator.commands.output import CommandError, Exit
from evaluator.interop import http_server
from evaluator.interop.http_server import host_name, is_loopback
from evaluator.model import RecordError, limits_from

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from evaluator.model import Limits

_HOST: Final = "127.0.0.1"
_PORT: Final = 8000

System = Literal["grades", "nemo-gym", "agentfly", "colossalai", "sandbox-fusion"]


class ServerOptions(NamedTuple):
    """The command line's options; None where one is not given."""

    host: str | None
    port: int | None
    """0: any free port."""
    allowed_hosts: Sequence[str]
    max_timeout: float | None
    """Seconds."""
    config: Path | None
    profile: bool
    token_file: Path | None

    @property
    def token(self) -> str | None:
        """What the file says. Raises `CommandError`."""
        if self.token_file is None:
            return None
        token = self.token_file.read_text().strip()
        if not token or not token.isascii() or not token.isprintable():
            raise CommandError(f"{self.token_file}: give one line of ASCII, such as `openssl rand -hex 32` prints")
        return token


class _Server(NamedTuple):
    application: ASGIApp
    longest: float
    """The largest request, in MiB."""
    host: str = _HOST
    port: int = _PORT
    allowed_hosts: Sequence[str] = ()
    runs_code: bool = True


def serve(system: System, **given: Any) -> int:
    """Serves until stopped. Raises `SandboxUnavailable` before it listens."""
    options = ServerOptions(**given)
    _check(system, options)
    token = options.token
    make = {"nemo-gym": _nemo_gym, "grades": _grades}.get(system)
    server = make(options) if make is not None else _small(system, options)
    host = server.host if options.host is None else options.host
    port = server.port if options.port is None else options.port
    names = [*server.allowed_hosts, *options.allowed_hosts]
    from evaluator.workers.single import awarm_up

    with http_server.listen(host, port) as listener:
        http_server.serve(
            server.application, listener, host, longest=server.longest, allowed_hosts=names,
            ready=awarm_up if server.runs_code else None, token=token,
        )  # fmt: skip
    return Exit.DONE


def _check(system: System, options: ServerOptions) -> None:
    for name in options.allowed_hosts:
        try:
            host_name(name)
        except ValueError as error:
            raise CommandError(f"--allowed-host {error}") from None
    if options.max_timeout is not None:
        if system in ("agentfly", "grades"):
            raise CommandError(f"--max-timeout: not for `serve {system}`: its requests set no time-out")
        if not 0 < options.max_timeout < math.inf:
            raise CommandError(f"--max-timeout {options.max_timeout:g}: give seconds above 0")
    if options.profile and system != "nemo-gym":
        raise CommandError(f"--profile: not for `serve {system}`: only nemo-gym has it")
    if options.config is not None and system in ("colossalai", "grades"):
        raise CommandError(f"--config {options.config}: `serve {system}` has nothing to configure: leave it out")


def _nemo_gym(options: ServerOptions) -> _Server:
    from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
    from evaluator.interop.nemo_gym.config import ConfigError, config_from_file

    try:
        fields = config_from_file(ServerConfig, options.config) if options.config else ServerConfig()
    except ConfigError as error:
        raise CommandError(str(error)) from None
    requested: dict[str, object] = {"profile": fields.profile or options.profile}
    if options.max_timeout is not None:
        requested["max_timeout_secs"] = options.max_timeout
    config = fields.model_copy(update=requested)
    server = CodeResourcesServer(config)
    server.prove()
    return _Server(
        server.setup_webserver(), config.max_request_mb, config.host, config.port, config.allowed_hosts,
        server.runs_code,
    )  # fmt: skip


def _grades(options: ServerOptions) -> _Server:
    from evaluator.workers.server import application as grades_server

    if options.token_file is None and options.host is not None and not is_loopback(options.host):
        raise CommandError(f"--host {options.host}: others could have programs run here: give --token-file FILE too")
    _prove_sandbox()
    return _Server(grades_server.application(), grades_server.LONGEST)


def _small(system: System, options: ServerOptions) -> _Server:
    """The servers that take only a program or a completion."""
    if system == "agentfly":
        from evaluator.interop.agentfly import server as agentfly
        from evaluator.interop.agentfly.environment import LIMITS

        server = _Server(agentfly.application(_limits(options.config, LIMITS)), agentfly.LONGEST)
    elif system == "sandbox-fusion":
        from evaluator.interop import sandbox_fusion as fusion

        most = options.max_timeout or fusion.MAX_TIMEOUT_S
        server = _Server(fusion.application(_limits(options.config, fusion.LIMITS), most), fusion.LONGEST)
    else:
        from evaluator.interop.colossalai import server as colossalai

        server = _Server(colossalai.application(options.max_timeout or colossalai.MAX_TIMEOUT_S), colossalai.LONGEST)
    _prove_sandbox()
    return server


def _limits(config: Path | None, defaults: Limits) -> Limits:
    """The `[limits]` of a TOML file, over the defaults."""
    if config is None:
        return defaults
    try:
        content = tomllib.loads(config.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{config}: not TOML: {error}") from None
    limits = content.pop("limits", {})
    if content or not isinstance(limits, dict):
        raise CommandError(f"{config}: has {', '.join(content) or 'limits'}: give one table, [limits]")
    try:
        return limits_from(msgspec.structs.asdict(defaults) | limits)
    except RecordError as error:
        raise CommandError(f"{config}: {error}") from None


def _prove_sandbox() -> None:
    from evaluator.workers.single import warm_up

    warm_up()
