"""A resource server to build one's own on: its endpoints, its sessions, and how it is started.

    class MyTaskResourcesServer(BaseResourcesServer):
        async def my_tool(self, body: MyToolRequest) -> MyToolResponse: ...
        async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse: ...

    if __name__ == "__main__":
        MyTaskResourcesServer.run_webserver()

Every public coroutine method with a typed `body` is a tool, `POST /<its name>`. The endpoints are NeMo Gym's
(`nemo_gym/base_resources_server.py`, release 0.7.0); nothing of it is imported.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

from evaluator.interop import http_server
from evaluator.interop.nemo_gym.command_line import config_from_command_line
from evaluator.interop.nemo_gym.config import ConfigError, ServerConfig, config_from_environment
from evaluator.interop.nemo_gym.document_form import last_answer
from evaluator.interop.nemo_gym.launcher import end_with_launcher
from evaluator.interop.nemo_gym.responses import PlainJSON, answered, verify_endpoint
from evaluator.interop.nemo_gym.session_cookie import SessionCookie
from evaluator.interop.nemo_gym.wire import (
    AggregateMetrics,
    AggregateMetricsRequest,
    CloseSessionRequest,
    JsonObject,
    ReverifyMode,
    SeedSessionRequest,
)
from evaluator.sandbox import SandboxUnavailable

_HEALTH: Final = ("/", "/health", "/healthz", "/livez", "/readyz")
_NOT_TOOLS: Final = {"seed_session", "verify", "aggregate_metrics", "close_session", "started", "closed"}
_PLAIN: Final = ("seed_session", "aggregate_metrics", "close_session")
_BAD_INPUT: Final = 2
_NO_SANDBOX: Final = 3


class BaseResourcesServer:
    """One server. Its methods are called by the web application that `setup_webserver` makes, and by tests."""

    config_type: ClassVar[type[ServerConfig]] = ServerConfig
    reverify_mode: ClassVar[ReverifyMode] = ReverifyMode.STATELESS
    """Whether a stored rollout can be verified again by itself. UNSUPPORTED where `verify` needs a session's state."""

    def __init__(self, config: ServerConfig | None = None, server_client: object = None) -> None:
        """`server_client` is kept for who has one; nothing here uses it."""
        self.config = config or self.config_type()
        self.server_client = server_client

    async def seed_session(self, body: SeedSessionRequest) -> dict[str, str]:
        """Begins a rollout: `body` is its row. Nothing is kept unless a subclass does."""
        return _session_id(body)

    async def close_session(self, body: CloseSessionRequest) -> dict[str, str]:
        """Ends a rollout; one that is not known has ended."""
        return _session_id(body)

    async def verify(self, body: Any) -> Any:
        """What a rollout is worth: a subclass says so. `body` is what its annotation says, by default
        `BaseVerifyRequest`."""
        raise NotImplementedError(f"{type(self).__name__} has no verify: write `async def verify(self, body)`")

    async def aggregate_metrics(self, body: AggregateMetricsRequest) -> AggregateMetrics:
        """The figures of many verified rollouts."""
        from evaluator.interop.nemo_gym.metrics import aggregate

        return await asyncio.to_thread(aggregate, body.verify_responses)

    def prove(self) -> None:
        """Called before the server listens. Raises what keeps it from starting: `SandboxUnavailable`."""

    async def started(self) -> None:
        """Called before the first request."""

    async def closed(self) -> None:
        """Called after the last request."""

    def found_session(self, session: str) -> None:
        """Called for a session that an earlier process of the server began: what was kept for it is gone."""

    def setup_webserver(self) -> FastAPI:
        """The server as an ASGI application."""

        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            await self.started()
            yield
            await self.closed()

        app = FastAPI(title=self.config.name, lifespan=lifespan, default_response_class=PlainJSON)
        app.add_exception_handler(RequestValidationError, _refused)  # type: ignore[arg-type]
        app.add_middleware(SessionCookie, not_ours=self.found_session)
        for path in _HEALTH:
            app.get(path)(_healthy)
        app.get("/reverify_mode")(self._reverify_mode)
        app.post("/verify")(verify_endpoint(self.verify))
        for name in _PLAIN:
            app.post(f"/{name}")(answered(getattr(self, name)))
        for name, tool in self.tools().items():
            app.post(f"/{name}")(answered(tool))
        return app

    def tools(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """The tools by name: every public coroutine method of a subclass that takes one `body`."""
        methods = inspect.getmembers(self, inspect.iscoroutinefunction)
        return {
            name: method
            for name, method in methods
            if not name.startswith("_") and name not in _NOT_TOOLS and "body" in inspect.signature(method).parameters
        }

    @classmethod
    def run_webserver(cls) -> None:
        """Serves until it is stopped: as NeMo Gym's environment variables say, else as the command line does
        (`--host`, `--port`, `--config`), by default with the one configuration in `configs/` beside the program.
        """
        try:
            config = config_from_environment(cls.config_type, os.environ)
            if config is not None:
                end_with_launcher()
            else:
                config = config_from_command_line(cls.config_type, sys.argv[1:], _folder_of_program())
            server = cls(config)
            server.prove()
            listener = http_server.listen(config.host, config.port)
        except (ConfigError, http_server.AddressError, SandboxUnavailable) as error:
            print(f"{cls.__name__}: {error}", file=sys.stderr)
            raise SystemExit(_NO_SANDBOX if isinstance(error, SandboxUnavailable) else _BAD_INPUT) from None
        with listener:
            http_server.serve(
                server.setup_webserver(),
                listener,
                config.host,
                longest=config.max_request_mb,
                allowed_hosts=config.allowed_hosts,
            )

    @staticmethod
    def _extract_answer(conversation: list[JsonObject]) -> str:
        """What the model answered at last, of a `BaseVerifyRequest.input`; empty where it said nothing."""
        return last_answer(conversation)

    async def _reverify_mode(self) -> str:
        return self.reverify_mode.value


def _folder_of_program() -> Path | None:
    file = getattr(sys.modules["__main__"], "__file__", None)
    return Path(file).resolve().parent if file else None


async def _healthy() -> dict[str, str]:
    return {"status": "ok"}


async def _refused(request: Request, error: RequestValidationError) -> Response:
    """A body that misses the schema: which field, and what is wrong with it; nothing of what was sent."""
    del request
    told = [{"loc": list(each["loc"]), "msg": each["msg"], "type": each["type"]} for each in error.errors()]
    return PlainJSON({"detail": told}, status_code=422)


def _session_id(body: SeedSessionRequest | CloseSessionRequest) -> dict[str, str]:
    return {"resources_session_id": body.resources_session_id} if body.resources_session_id else {}
