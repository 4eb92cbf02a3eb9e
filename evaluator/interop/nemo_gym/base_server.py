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
import math
import os
import re
import secrets
import select
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar, Final, get_type_hints

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evaluator.interop import http_server
from evaluator.interop.endpoints import AsciiJSON, got
from evaluator.interop.nemo_gym.config import (
    CONFIG_DICT,
    ConfigError,
    ServerConfig,
    config_from_command_line,
    config_from_environment,
)
from evaluator.interop.nemo_gym.wire import (
    COOKIE,
    HEALTH_PATHS,
    STATE,
    AggregateMetrics,
    AggregateMetricsRequest,
    BaseVerifyRequest,
    CloseSessionRequest,
    FailureKind,
    JsonObject,
    ReverifyMode,
    SeedSessionRequest,
    last_answer,
)
from evaluator.sandbox import SandboxUnavailable
from evaluator.tasks import nesting

_ID: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)
_ATTRIBUTES: Final = "HttpOnly; Path=/; SameSite=lax"

current_session: ContextVar[str] = ContextVar("current_session", default="")
"""The session id of the current request; empty outside of a request."""


class SessionCookie:
    """An ASGI middleware. The id can't be guessed; whoever knows it may use the session."""

    def __init__(self, app: ASGIApp, not_ours: Callable[[str], None]) -> None:
        """`not_ours`: called with the id of a session of an earlier process."""
        self._app = app
        self._not_ours = not_ours
        self._ours = secrets.token_hex(4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Request(scope).cookies.get(COOKIE, "")
        session = sent if _ID.fullmatch(sent) else f"{self._ours}.{secrets.token_urlsafe(24)}"
        lost = not session.startswith(self._ours)
        if lost:
            self._not_ours(session)
        current_session.set(session)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # In every answer: an agent of NeMo Gym 0.4 sends only the cookies of the last one.
                headers.append("set-cookie", f"{COOKIE}={session}; {_ATTRIBUTES}")
                if lost:
                    headers.append(STATE, "lost")
            await send(message)

        await self._app(scope, receive, send_with_cookie)


_SHOWN: Final = 500
_TOOL_FAILED: Final = 400
_FAILED: Final = 500

Method = Callable[..., Awaitable[Any]]
Endpoint = Callable[..., Awaitable[JSONResponse]]


class _ShallowRoute(APIRoute):
    """A route that refuses bodies of JSON which is nested too deeply."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def checked(request: Request) -> Response:
            try:
                nesting.require_shallow(await request.body())
            except nesting.NestedError as error:
                problem = {"loc": ("body",), "msg": str(error), "type": "json_invalid"}
                raise RequestValidationError([problem]) from None
            return await handler(request)

        return checked


class ToolError(Exception):
    """Raise it in a tool that can't do what the model requested: status 400; the model sees the message, one line."""


def endpoint_of(method: Method) -> Endpoint:
    """The endpoint of a method. An exception goes into `error`, which the model sees: status 400 for a `ToolError`,
    else 500."""

    async def endpoint(*args: Any, **kwargs: Any) -> JSONResponse:
        try:
            return AsciiJSON(_as_dict(await method(*args, **kwargs)))
        except ToolError as error:
            return AsciiJSON({"error": str(error)}, status_code=_TOOL_FAILED)
        except Exception as error:
            return AsciiJSON({"error": repr(error)[:_SHOWN]}, status_code=_FAILED)

    return _with_parameters_of(method, endpoint)


def verify_endpoint(verify: Method) -> Endpoint:
    """The endpoint of `verify`. If it raises or its reward is not finite, the answer is a masked rollout, since an
    error status would end the whole collection."""

    async def endpoint(body: Any) -> JSONResponse:
        try:
            answer = _as_dict(await verify(body))
            if not isinstance(answer, dict):
                raise TypeError(f"verify returned {type(answer).__name__}: return a BaseVerifyResponse")
            reward = answer.get("reward")
            if not isinstance(reward, int | float) or not math.isfinite(reward):
                raise ValueError(f"verify returned the reward {reward!r}: return a finite number")
            return AsciiJSON(answer)
        except Exception as error:
            return AsciiJSON(_masked(body, repr(error)))

    return _with_parameters_of(verify, endpoint, otherwise=BaseVerifyRequest)


def _with_parameters_of(method: Method, endpoint: Endpoint, otherwise: object = Any) -> Endpoint:
    """The endpoint with the method's parameters, for FastAPI; `otherwise` is the type of a body without annotation."""
    hints = {"body": otherwise} | {name: hint for name, hint in get_type_hints(method).items() if hint is not Any}
    parameters = [
        parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in inspect.signature(method).parameters.items()
    ]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = method.__name__
    endpoint.__doc__ = method.__doc__
    return endpoint


def _as_dict(answer: Any) -> Any:
    return answer.model_dump() if isinstance(answer, BaseModel) else answer


def _masked(body: Any, reason: str) -> dict[str, Any]:
    sent = body.model_dump() if isinstance(body, BaseModel) else {}
    return {
        **sent,
        "reward": 0.0,
        "mask_sample": True,
        "failure_kind": FailureKind.VERIFIER_ERROR.value,
        "failure_reason": reason[:_SHOWN],
        "verdict": "unknown",
    }


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
        """The server as an ASGI application, without the checks of `endpoints.Guard`, which `run_webserver` adds."""

        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            await self.started()
            yield
            await self.closed()

        app = FastAPI(title=self.config.name, lifespan=lifespan, default_response_class=AsciiJSON)
        app.router.route_class = _ShallowRoute
        app.add_exception_handler(RequestValidationError, _refused)  # type: ignore[arg-type]
        app.add_middleware(SessionCookie, not_ours=self.found_session)
        for path in HEALTH_PATHS:
            app.routes.append(got(path, {"status": "ok"}))
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


async def _refused(request: Request, error: RequestValidationError) -> Response:
    """The fields at which a body does not match the schema, without their content."""
    del request
    detail = [{"loc": list(each["loc"]), "msg": each["msg"], "type": each["type"]} for each in error.errors()]
    return AsciiJSON({"detail": detail}, status_code=422)


def _session_id(body: SeedSessionRequest | CloseSessionRequest) -> dict[str, str]:
    return {"resources_session_id": body.resources_session_id} if body.resources_session_id else {}


_CONFIGURATION: Final = f"{CONFIG_DICT}=".encode()
_INIT: Final = 1
_SHELLS: Final = ("bash", "dash", "sh")


def end_with_launcher() -> None:
    """Sends SIGTERM to this process when its parent ends. For servers launched by NeMo Gym.

    If the parent is a shell that the launcher started for the server, the launcher's end counts too, since such a shell
    outlives it: Bash before 5.1 always, later ones with `nemo_gym_log_dir`. A thread waits, since the kernel's own
    signal (PR_SET_PDEATHSIG) comes when the *thread* that started this process ends.
    """
    parent = os.getppid()
    watched = _watched(parent)
    if os.getppid() != parent:  # it has ended already
        os.kill(os.getpid(), signal.SIGTERM)
    if watched:
        threading.Thread(target=_wait, args=(watched,), name="rollscope-launcher", daemon=True).start()


def _watched(parent: int) -> list[int]:
    """Descriptors of the parent, of the launcher, and of the shells between them.

    Such a shell has the server's configuration in its environment (0.7) or in its command (0.4).
    """
    watched = []
    process = parent
    while process > _INIT:
        try:
            watched.append(os.pidfd_open(process))
            folder = Path(f"/proc/{process}")
            name, _, state = (folder / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
            given = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
        except OSError:  # it has ended, is another user's, or the kernel is older than 5.3
            break
        if name not in _SHELLS or _CONFIGURATION not in given:
            break
        process = int(state.split()[1])
    return watched


def _wait(watched: list[int]) -> None:
    poll = select.poll()
    for descriptor in watched:
        poll.register(descriptor, select.POLLIN)
    poll.poll()
    os.kill(os.getpid(), signal.SIGTERM)
