"""`rollscope serve`: answers over HTTP as another system's server would, with Rollscope's sandbox behind it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from evaluator.commands.failure import CommandError, Exit
from evaluator.interop import http_serving
from evaluator.model import RecordError, limits_from

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from evaluator.interop.nemo_gym import CodeResourcesServer
    from evaluator.model import Limits

_HOST: Final = "127.0.0.1"
_PORT: Final = 8000

System = Literal["agentfly", "colossalai", "nemo-gym"]


def serve(system: System, *, host: str | None, port: int | None, config: Path | None, profile: bool) -> int:
    """Serves until it is stopped; `port` 0 is any free one. Raises `SandboxUnavailable` before it listens."""
    application: Starlette
    place = _HOST, _PORT
    if system == "nemo-gym":
        server = _nemo_gym(config, profile)
        server.prove()
        application, place = server.setup_webserver(), (server.config.host, server.config.port)
    elif profile:
        raise CommandError(f"--profile: `serve {system}` has none: it is for nemo-gym")
    else:
        application = _application(system, config)
        _prove_sandbox()
    where = place[0] if host is None else host
    with http_serving.listening(where, place[1] if port is None else port) as listener:
        http_serving.serve(application, listener, where)
    return Exit.DONE


def _nemo_gym(config: Path | None, profile: bool) -> CodeResourcesServer:
    from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
    from evaluator.interop.nemo_gym.config import ConfigError, config_from_file

    try:
        fields = config_from_file(ServerConfig, config) if config else ServerConfig()
    except ConfigError as error:
        raise CommandError(str(error)) from None
    return CodeResourcesServer(fields.model_copy(update={"profile": fields.profile or profile}))


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


def _prove_sandbox() -> None:
    from evaluator.engines import pool
    from evaluator.sandbox import Settings

    pool.warm_up(Settings())
