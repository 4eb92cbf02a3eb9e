"""The base class of resource servers: endpoints, sessions and start.

    class MyTaskResourcesServer(BaseResourcesServer):
        async def my_tool(self, body: MyToolRequest) -> MyToolResponse: ...
        async def verify(self, body: BaseVerifyRequest) -> BaseVerifyResponse: ...

    if __name__ == "__main__":
        MyTaskResourcesServer.run_webserver()

Every public coroutine method with a typed `body` is a tool, `POST /<its name>`. The endpoints are those of NeMo Gym's
`nemo_gym/base_resources_server.py` (release 0.7.0), which is not imported.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

from evaluator.interop import http_server
from evaluator.interop.ascii_json import AsciiJSON
from evaluator.interop.nemo_gym.config import (
    ConfigError,
    ServerConfig,
    config_from_command_line,
    config_from_environment,
)
from evaluator.interop.nemo_gym.document_form import last_answer
from evaluator.interop.nemo_gym.launcher import end_with_launcher
from evaluator.interop.nemo_gym.responses import endpoint_of, verify_endpoint
from evaluator.interop.nemo_gym.session_cookie import SessionCookie
from evaluator.interop.nemo_gym.wire import (
    HEALTH_PATHS,
    AggregateMetrics,
    AggregateMetricsRequest,
    CloseSessionRequest,
    JsonObject,
    ReverifyMode,
    SeedSessionRequest,
)
from evaluator.sandbox import SandboxUnavailable

_NOT_TOOLS: Final = {"seed_session", "verify", "aggregate_metrics", "close_session", "started", "closed"}
_OWN_ENDPOINTS: Final = ("seed_session", "aggregate_metrics", "close_session")
_BAD_INPUT: Final = 2
_NO_SANDBOX: Final = 3


class BaseResourcesServer:
    """A resource server: subclass it, and write `verify` and tools. Only `run_webserver` opens a port.

    In a test, call the methods: `await MyServer().verify(BaseVerifyRequest(input=[...], metadata={...}))`.
    """

    config_type: ClassVar[type[ServerConfig]] = ServerConfig
    reverify_mode: ClassVar[ReverifyMode] = ReverifyMode.STATELESS
    """Whether a stored rollout can be verified again on its own; UNSUPPORTED if `verify` needs a session's state."""

    def __init__(self, config: ServerConfig | None = None, server_client: object = None) -> None:
        """`config`: None: the defaults of `config_type`. `server_client`: kept for subclasses, not used."""
        self.config = config or self.config_type()
        self.server_client = server_client

    async def seed_session(self, body: SeedSessionRequest) -> dict[str, str]:
        """Starts a rollout; `body` is its row, which only subclasses store. Returns the session's id if it has one."""
        return _session_id(body)

    async def close_session(self, body: CloseSessionRequest) -> dict[str, str]:
        """Ends a rollout; an unknown one is not an error."""
        return _session_id(body)

    async def verify(self, body: Any) -> Any:
        """Rewards a rollout; written by subclasses. `body`: of the annotated type, by default `BaseVerifyRequest`.

        Returns a `BaseVerifyResponse`. If it raises, or `reward` is not finite, `/verify` answers a masked rollout.
        """
        raise NotImplementedError(f"{type(self).__name__} has no verify: write `async def verify(self, body)`")

    async def aggregate_metrics(self, body: AggregateMetricsRequest) -> AggregateMetrics:
        """The figures of a run, from all its verified rollouts; never raises because of a row."""
        from evaluator.interop.nemo_gym.metrics import aggregate

        return await asyncio.to_thread(aggregate, body.verify_responses)

    def prove(self) -> None:
        """Called before the server listens. Raises `SandboxUnavailable` if it can't work."""

    async def started(self) -> None:
        """Called before the first request."""

    async def closed(self) -> None:
        """Called after the last request."""

    def found_session(self, session: str) -> None:
        """Called for a session of an earlier process of the server, whose state is lost."""

    def setup_webserver(self) -> FastAPI:
        """The server as an ASGI application, without the checks of `http_guard`, which `run_webserver` adds."""

        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            await self.started()
            yield
            await self.closed()

        app = FastAPI(title=self.config.name, lifespan=lifespan, default_response_class=AsciiJSON)
        app.add_exception_handler(RequestValidationError, _refused)  # type: ignore[arg-type]
        app.add_middleware(SessionCookie, not_ours=self.found_session)
        for path in HEALTH_PATHS:
            app.get(path)(_healthy)
        app.get("/reverify_mode")(self._reverify_mode)
        app.post("/verify")(verify_endpoint(self.verify))
        for name in _OWN_ENDPOINTS:
            app.post(f"/{name}")(endpoint_of(getattr(self, name)))
        for name, tool in self.tools().items():
            app.post(f"/{name}")(endpoint_of(tool))
        return app

    def tools(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """The tools by name: all public coroutine methods of a subclass that have a parameter `body`."""
        methods = inspect.getmembers(self, inspect.iscoroutinefunction)
        return {
            name: method
            for name, method in methods
            if not name.startswith("_") and name not in _NOT_TOOLS and "body" in inspect.signature(method).parameters
        }

    @classmethod
    def run_webserver(cls) -> None:
        """Serves until Ctrl-C or SIGTERM, in the main thread.

        The configuration is that of NeMo Gym's environment variables; else of the command line (`--host`, `--port`,
        `--allowed-host`, `--config`), by default the only file in `configs/` beside the program. Raises `SystemExit`
        after one line on stderr: 2 for a bad configuration or address, 3 if no sandbox starts.
        """
        with ending_if_refused(cls.__name__):
            config = config_from_environment(cls.config_type, os.environ)
            if config is not None:
                end_with_launcher()
            else:
                config = config_from_command_line(cls.config_type, sys.argv[1:], _folder_of_program())
            server = cls(config)
            server.prove()
            listener = http_server.listen(config.host, config.port)
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
        """The model's last answer in a `BaseVerifyRequest.input`; empty if there is none."""
        return last_answer(conversation)

    async def _reverify_mode(self) -> str:
        return self.reverify_mode.value


@contextmanager
def ending_if_refused(server: str) -> Iterator[None]:
    """Ends the process, with one line, where the server can't start."""
    try:
        yield
    except (ConfigError, http_server.AddressError, SandboxUnavailable) as error:
        print(f"{server}: {error}", file=sys.stderr)
        raise SystemExit(_NO_SANDBOX if isinstance(error, SandboxUnavailable) else _BAD_INPUT) from None


def _folder_of_program() -> Path | None:
    file = getattr(sys.modules["__main__"], "__file__", None)
    return Path(file).resolve().parent if file else None


async def _healthy() -> dict[str, str]:
    return {"status": "ok"}


async def _refused(request: Request, error: RequestValidationError) -> Response:
    """The fields at which a body does not match the schema, without their content."""
    del request
    detail = [{"loc": list(each["loc"]), "msg": each["msg"], "type": each["type"]} for each in error.errors()]
    return AsciiJSON({"detail": detail}, status_code=422)


def _session_id(body: SeedSessionRequest | CloseSessionRequest) -> dict[str, str]:
    return {"resources_session_id": body.resources_session_id} if body.resources_session_id else {}
