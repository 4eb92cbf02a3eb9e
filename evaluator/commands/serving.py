"""`rollscope serve`: answers over HTTP as another system's server would, with Rollscope's sandbox behind it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from evaluator.commands.failure import CommandError, Exit
from evaluator.interop import http_serving
from evaluator.model import RecordError, limits_from

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from evaluator.model import Limits

System = Literal["agentfly", "colossalai", "nemo-gym"]


def serve(system: System, *, host: str, port: int, config: Path | None, profile: bool) -> int:
    """Serves until it is stopped; `port` 0 is any free one. Raises `SandboxUnavailable` before it listens."""
    if system == "nemo-gym":
        application = _nemo_gym(config, profile)
    elif profile:
        raise CommandError(f"--profile: `serve {system}` has none: it is for nemo-gym")
    else:
        application = _application(system, config)
        _prove_sandbox()
    with http_serving.listening(host, port) as listener:
        http_serving.serve(application, listener, host)
    return Exit.DONE


def _nemo_gym(config: Path | None, profile: bool) -> Starlette:
    from evaluator.interop.nemo_gym import CodeResourcesServer, ServerConfig
    from evaluator.interop.nemo_gym.config import ConfigError, config_from_file

    try:
        fields = config_from_file(ServerConfig, config) if config else ServerConfig()
    except ConfigError as error:
        raise CommandError(str(error)) from None
    server = CodeResourcesServer(fields.model_copy(update={"profile": fields.profile or profile}))
    server.prove()
    return server.setup_webserver()


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

    with pool.lease(Settings()):
        return
