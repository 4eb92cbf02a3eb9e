"""Turns the results and exceptions of a server's methods into HTTP responses."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any, Final, get_type_hints

from pydantic import BaseModel
from starlette.responses import JSONResponse

from evaluator.interop.ascii_json import AsciiJSON
from evaluator.interop.nemo_gym.document_form import BaseVerifyRequest
from evaluator.interop.nemo_gym.wire import FailureKind

_SHOWN: Final = 500
_TOOL_FAILED: Final = 400
_FAILED: Final = 500

Method = Callable[..., Awaitable[Any]]
Endpoint = Callable[..., Awaitable[JSONResponse]]


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
