"""How what a server's methods return goes over the wire, and what does where they fail."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, Final, get_type_hints

from pydantic import BaseModel
from starlette.responses import JSONResponse

from evaluator.interop.nemo_gym.document_form import BaseVerifyRequest
from evaluator.interop.nemo_gym.wire import FailureKind

_SHOWN: Final = 500
_TOOL_FAILED: Final = 400
_FAILED: Final = 500

Method = Callable[..., Awaitable[Any]]
Endpoint = Callable[..., Awaitable[JSONResponse]]


class ToolError(Exception):
    """A tool can't do what was asked. One line, which the model sees."""


class PlainJSON(JSONResponse):
    """JSON in ASCII: half a surrogate pair, which a model may well write, has no other form. NaN and infinity, which a
    row may have had in it and JSON has not, are null."""

    def render(self, content: Any) -> bytes:
        try:
            return _compact(content)
        except ValueError:
            return _compact(json.loads(json.dumps(content), parse_constant=lambda _: None))


def _compact(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def answered(method: Method) -> Endpoint:
    """An endpoint of a method. What it raises is told in `error`, for the model to see: with status 400 where it is a
    `ToolError`, else 500."""

    async def endpoint(*args: Any, **kwargs: Any) -> JSONResponse:
        try:
            return PlainJSON(_plain(await method(*args, **kwargs)))
        except ToolError as error:
            return PlainJSON({"error": str(error)}, status_code=_TOOL_FAILED)
        except Exception as error:
            return PlainJSON({"error": repr(error)[:_SHOWN]}, status_code=_FAILED)

    return _with_parameters_of(method, endpoint)


def verify_endpoint(verify: Method) -> Endpoint:
    """The endpoint of `verify`. Where it raises, or gives a reward that is no number, the answer is a masked rollout:
    an error's status would end a whole collection."""

    async def endpoint(body: Any) -> JSONResponse:
        try:
            answer = _plain(await verify(body))
            if not isinstance(answer, dict):
                raise TypeError(f"verify gave {type(answer).__name__}: return a BaseVerifyResponse")
            reward = answer.get("reward")
            if not isinstance(reward, int | float) or not math.isfinite(reward):
                raise ValueError(f"verify gave the reward {reward!r}: give a finite number")
            return PlainJSON(answer)
        except Exception as error:
            return PlainJSON(_masked(body, repr(error)))

    return _with_parameters_of(verify, endpoint, otherwise=BaseVerifyRequest)


def _with_parameters_of(method: Method, endpoint: Endpoint, otherwise: object = Any) -> Endpoint:
    """The endpoint, which FastAPI asks for the body that the method takes; `otherwise` where it does not say which."""
    hints = {"body": otherwise} | {name: hint for name, hint in get_type_hints(method).items() if hint is not Any}
    parameters = [
        parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in inspect.signature(method).parameters.items()
    ]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = method.__name__
    endpoint.__doc__ = method.__doc__
    return endpoint


def _plain(answer: Any) -> Any:
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
