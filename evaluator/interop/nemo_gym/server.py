"""The code-grading server as a subclass of NeMo Gym's own `SimpleResourcesServer`.

The only module that imports `nemo_gym`. `ng_run` works as well with `CodeResourcesServer`, which needs no NeMo Gym;
this one adds NeMo Gym's middleware, telemetry and tools over MCP. For releases 0.4 to 0.7: it adds the fields and
endpoints that a release lacks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from nemo_gym import base_resources_server as nemo_gym
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import ConfigDict
from starlette.types import ASGIApp, Receive, Scope, Send

from evaluator.interop.endpoints import Guard
from evaluator.interop.http_server import Hosts
from evaluator.interop.nemo_gym import metrics
from evaluator.interop.nemo_gym.base_server import current_session, end_with_launcher, ending_if_refused, endpoint_of
from evaluator.interop.nemo_gym.code_server import CodeResourcesServer
from evaluator.interop.nemo_gym.config import ServerConfig, config_from
from evaluator.interop.nemo_gym.wire import (
    CloseSessionRequest,
    ReverifyMode,
    SeedSessionRequest,
    VerifyRequest,
    VerifyResponse,
)

if TYPE_CHECKING:
    from fastapi import FastAPI


# Releases before 0.5 have none, and never request it.
_ReverifyMode: Any = getattr(nemo_gym, "ReverifyMode", ReverifyMode)


class EvaluatorResourcesServerConfig(ServerConfig, nemo_gym.BaseResourcesServerConfig):  # type: ignore[misc]
    """The fields of `ServerConfig` and NeMo Gym's, of which `entrypoint` is required."""

    model_config = ConfigDict(frozen=False)

    debug: bool = False
    """code_gen's; has no effect."""
    REVERIFY_MODE: ClassVar[Any] = _ReverifyMode.STATELESS


class EvaluatorVerifyRequest(nemo_gym.BaseVerifyRequest):  # type: ignore[misc]
    """NeMo Gym's request, with the row's other fields."""

    model_config = ConfigDict(extra="allow")

    verifier_metadata: dict[str, Any] | None = None


class EvaluatorVerifyResponse(nemo_gym.BaseVerifyResponse, VerifyResponse):  # type: ignore[misc]
    """NeMo Gym's response with the fields of `VerifyResponse`."""

    verdict: str = "unknown"


class EvaluatorResourcesServer(nemo_gym.SimpleResourcesServer):  # type: ignore[misc]
    """`CodeResourcesServer` behind NeMo Gym's class, with equal methods; `app.py` calls its `run_webserver()`."""

    ray_enabled: ClassVar[bool | None] = False
    config: EvaluatorResourcesServerConfig

    @cached_property
    def core(self) -> CodeResourcesServer:
        """The server that grades and runs code. Raises `ConfigError`."""
        fields = self.config.model_dump(include=set(ServerConfig.model_fields))
        return CodeResourcesServer(config_from(ServerConfig, fields, self.config.name), self.server_client)

    def setup_webserver(self) -> FastAPI:
        """The server as an ASGI application. Raises `ConfigError`, and `SandboxUnavailable` if no sandbox starts."""
        self.core.prove()
        app: FastAPI = super().setup_webserver()
        for name, tool in self.core.tools().items():
            app.post(f"/{name}")(endpoint_of(tool))
        there = {getattr(route, "path", None) for route in app.routes}
        if "/close_session" not in there:
            app.post("/close_session")(self.close_resources_session)
        if "/reverify_mode" not in there:
            app.get("/reverify_mode")(self._reverify_mode)
        _add_to_life(app, self.core)
        settings = self.core.config
        # Added last, it runs first.
        app.add_middleware(Guard, hosts=Hosts(settings.host, settings.allowed_hosts), longest=settings.max_request_mb)
        return app

    def setup_session_middleware(self, app: FastAPI) -> None:
        app.add_middleware(_SessionOfNemoGym)  # added first, it runs last, when there is a session
        super().setup_session_middleware(app)

    async def seed_session(self, body: SeedSessionRequest) -> dict[str, str]:
        return await self.core.seed_session(body)

    async def close_resources_session(self, body: CloseSessionRequest) -> dict[str, str]:
        return await self.core.close_session(body)

    async def verify(self, body: EvaluatorVerifyRequest) -> EvaluatorVerifyResponse:
        sent = VerifyRequest.model_validate(body.model_dump())
        answer = await self.core.verify(sent)
        return EvaluatorVerifyResponse.model_validate(answer.model_dump())

    compute_metrics = staticmethod(metrics.compute_metrics)
    get_key_metrics = staticmethod(metrics.key_metrics)

    @classmethod
    def run_webserver(cls) -> Any:
        """Serves with NeMo Gym's configuration; ends with `SystemExit` as `BaseResourcesServer` does."""
        end_with_launcher()
        with ending_if_refused(cls.__name__):
            return super().run_webserver()

    async def _reverify_mode(self) -> str:
        return str(self.config.REVERIFY_MODE.value)


class _SessionOfNemoGym:
    """An ASGI middleware that makes the session of NeMo Gym's cookie the current one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        current_session.set(str(scope.get("session", {}).get(SESSION_ID_KEY, "")))
        await self._app(scope, receive, send)


def _add_to_life(app: FastAPI, core: CodeResourcesServer) -> None:
    outer = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[Any]:
        await core.started()
        try:
            async with outer(application) as state:
                yield state
        finally:
            await core.closed()

    app.router.lifespan_context = lifespan
