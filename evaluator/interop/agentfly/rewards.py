"""AgentFly's reward functions: registered by name, called by keyword, returning a dict with `reward`.

`code_reward_test` is Rollscope's own: 1.0 for code that runs to its end, 0.0 for code that fails.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from evaluator.extraction import extract
from evaluator.extraction.fences import has_fence
from evaluator.interop.agentfly.environment import (
    CodeError,
    PythonSandboxEnv,
    PythonSandboxSpec,
    SandboxFault,
    is_observed,
)
from evaluator.interop.agentfly.resources import Context
from evaluator.model import Kind, Mode, Task
from evaluator.sandbox import SandboxUnavailable

RewardDict = dict[str, Any]
"""`reward`, a number, and whatever else a reward function returns."""

Function = Callable[..., Any]

REWARD_REGISTRY: dict[str, BaseReward] = {}
"""All registered rewards, by name in lower case."""


class BaseReward:
    """A reward function as a class with a `name` and a method `call`, sync or async.

    An instance registers itself under its name, else its class's, unless `auto_register` is False.

        class Short(BaseReward):
            name = "short"
            def call(self, prediction): return float(len(prediction) < 80)
        Short()(prediction="x", trajectory=[])  # {"reward": 1.0}
    """

    name: str | None = None
    auto_register: bool = True

    def __init__(self, name: str | None = None, *, auto_register: bool | None = None) -> None:
        self.name = name or type(self).name or type(self).__name__
        if self.auto_register if auto_register is None else auto_register:
            register_reward(self.name, self)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a float, a dict with `reward`, or an awaitable of either. Raises `NotImplementedError` here."""
        del args, kwargs
        raise NotImplementedError(f"reward {self.name!r} has no function: define its method call(self, ...)")

    def __call__(self, *positional: object, **given: Any) -> Any:
        """Returns a dict with `reward`, or an awaitable of it if `call` is async.

        Arguments that `call` does not name are dropped, even if it has `**kwargs`. Raises `TypeError` for positional or
        missing arguments, `ValueError` if `call` returns neither a float nor a dict with a finite `reward`, and what
        `call` raises.
        """
        if positional:
            raise TypeError(f"reward {self.name!r} takes keyword arguments only: {self.name}(prediction=..., ...)")
        returned = self.call(**_named(self.call, given))
        if inspect.isawaitable(returned):
            return self._awaited(returned)
        return _as_dict(self.name, returned)

    async def _awaited(self, returned: Awaitable[Any]) -> RewardDict:
        return _as_dict(self.name, await returned)


class FunctionReward(BaseReward):
    """What `@reward` makes of a function."""

    def __init__(self, function: Function, name: str, *, auto_register: bool) -> None:
        self.call = function  # type: ignore[method-assign]
        functools.update_wrapper(self, function)
        if inspect.iscoroutinefunction(function) and hasattr(inspect, "markcoroutinefunction"):
            inspect.markcoroutinefunction(self)
        super().__init__(name, auto_register=auto_register)


@overload
def reward(name: Function) -> FunctionReward: ...


@overload
def reward(name: str | None = None, auto_register: bool = True) -> Callable[[Function], FunctionReward]: ...


def reward(
    name: str | Function | None = None, auto_register: bool = True
) -> FunctionReward | Callable[[Function], FunctionReward]:
    """Decorates a function, sync or async, to make it a reward: `@reward` or `@reward(name="...")`.

    `name`: in lower case the key in `REWARD_REGISTRY`, replacing what had it; None: the function's name.
    `auto_register`: False leaves it out of the registry.

        @reward(name="exact")
        def exact(prediction: str, answer: str) -> float: return float(prediction == answer)
        exact(prediction="4", answer="4")  # {"reward": 1.0}
    """
    if callable(name):
        return FunctionReward(name, name.__name__, auto_register=True)

    def decorate(function: Function) -> FunctionReward:
        return FunctionReward(function, name or function.__name__, auto_register=auto_register)

    return decorate


def register_reward(reward_name: str, reward: BaseReward) -> None:
    """Registers a reward under a name in any case; replaces an earlier one, since a module may be reloaded."""
    REWARD_REGISTRY[reward_name.lower()] = reward


def get_reward_from_name(reward_name: str) -> BaseReward:
    """The reward with that name, in any case. Raises `KeyError`, which lists the known names."""
    found = REWARD_REGISTRY.get(reward_name.lower())
    if found is None:
        raise KeyError(f"reward {reward_name!r} is unknown: there are {', '.join(list_available_rewards())}")
    return found


def get_rewards_from_names(reward_names: Iterable[str]) -> list[BaseReward]:
    """The rewards with these names, in the same order. Raises `KeyError` for an unknown one."""
    return [get_reward_from_name(name) for name in reward_names]


def list_available_rewards() -> list[str]:
    """The registered names in alphabetical order."""
    return sorted(REWARD_REGISTRY)


@dataclass
class RewardResult:
    """A reward, and the rest of what its function returned."""

    reward: float
    extras: dict[str, Any] = field(default_factory=dict)


async def calculate_reward(reward_fn: Function, **given: Any) -> RewardResult:
    """Calls any reward function, sync or async, and returns its reward as a `RewardResult`.

    `reward_fn`: a reward, or a plain function, which gets only the arguments that it names. It may return a number, a
    dict with `reward`, a `RewardResult`, or None for 0.0. Raises `ValueError` for a dict without `reward` or a number
    that is not finite, and what `reward_fn` raises.

        await calculate_reward(lambda prediction: 0.5, prediction="x", answer="y")  # RewardResult(0.5, {})
    """
    returned = reward_fn(**_named(reward_fn, given, all_if_any=True))
    if inspect.isawaitable(returned):
        returned = await returned
    name = getattr(reward_fn, "name", None) or getattr(reward_fn, "__name__", type(reward_fn).__name__)
    if isinstance(returned, RewardResult):
        return RewardResult(_number(name, returned.reward), returned.extras)
    if isinstance(returned, Mapping):
        extras = _as_dict(name, dict(returned))
        return RewardResult(float(extras.pop("reward")), extras)
    return RewardResult(_number(name, 0.0 if returned is None else returned))


def _named(function: Function, given: Mapping[str, Any], *, all_if_any: bool = False) -> Mapping[str, Any]:
    """The arguments that a function names. `**kwargs` gets nothing, or with `all_if_any` all others."""
    kinds = inspect.Parameter
    parameters = inspect.signature(function).parameters.values()
    if all_if_any and any(parameter.kind is kinds.VAR_KEYWORD for parameter in parameters):
        return given
    by_keyword = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    names = {parameter.name for parameter in parameters if parameter.kind in by_keyword}
    return {name: value for name, value in given.items() if name in names}


def _as_dict(name: str | None, returned: Any) -> RewardDict:
    if isinstance(returned, float):
        return {"reward": _number(name, returned)}
    if not isinstance(returned, dict):
        message = f"reward {name!r} returned {_shown(returned)}: return a float, or a dict with 'reward'"
        raise ValueError(message)  # noqa: TRY004 - as AgentFly does
    if "reward" not in returned:
        keys = ", ".join(map(repr, returned)) or "no keys"
        raise ValueError(f"reward {name!r} returned a dict without 'reward' (it has {keys}): add it")
    _number(name, returned["reward"])
    return returned


def _number(name: str | None, value: Any) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"reward {name!r} is {_shown(value)}: return a finite number")
    return float(value)


def _shown(value: object) -> str:
    is_shown_whole = value is None or isinstance(value, bool | float)
    return f"{value!r}" if is_shown_whole else f"{type(value).__name__} {value!r:.60}"


_SCRIPT = Task(task_id="script", mode=Mode.STDIN)
_NOT_GIVEN: Any = object()


@reward(name="code_reward_test")
async def code_reward_test(
    context: object, prediction: str | None = None, final_response: str | None = _NOT_GIVEN
) -> RewardDict:
    """Runs a program in the sandbox. Returns `{"reward": 1.0, "output": what it printed}` without one final newline, or
    `{"reward": 0.0, "output": the error}`, such as `NameError: name 'x' is not defined`.

    Call it by keyword. `context`: a `Context`, whose sandbox is used; any other object, such as AgentFly's own, is
    ignored. `prediction`: source code, fences not removed. `final_response`: without `prediction`, the chat answer to
    extract the program from, as AgentFly's rollouts pass it; no code in it, or None for a model that said nothing, is
    reward 0.0. Limits: 10 s of wall time, 8 s of CPU, 1 GiB.

    Raises `TypeError` if the text is not `str`, and for what says nothing about the code: `SandboxFault`,
    `SandboxUnavailable`, and what `Context.acquire_resource` raises. Within `as_observed()` failing code earns 1.0.

        async with Context("rollout-1") as context:
            await code_reward_test(prediction="print(1)", context=context)  # {"reward": 1.0, "output": "1"}
    """
    if prediction is None and final_response is not _NOT_GIVEN:
        answer = "" if final_response is None else final_response
        if not isinstance(answer, str):
            raise TypeError(f"final_response must be text, not {type(answer).__name__}: give the answer's text")
        found = extract(answer, task=_SCRIPT, kind=None if has_fence(answer) else Kind.CHAT)
        if found.code is None:
            return {"reward": 0.0, "output": f"No code: {found.reason}"}
        prediction = found.code
    if not isinstance(prediction, str):
        kind = type(prediction).__name__
        raise TypeError(f"prediction must be text, not {kind}: give a program's source, or a final_response")
    lender = context if isinstance(context, Context) else Context("code_reward_test")
    held_before = bool(lender.global_resource_ids)
    env = await lender.acquire_resource(spec=PythonSandboxSpec, scope="global", backend="local")
    gives_back = lender.last_acquire_was_first and not held_before
    try:
        return await _rewarded(env, prediction)
    finally:
        if gives_back:
            await lender.release_resource(scope="global")


async def _rewarded(env: Any, code: str) -> RewardDict:
    try:
        output = await env.step(code)
    except (SandboxFault, SandboxUnavailable):
        raise
    except Exception as error:
        if isinstance(env, PythonSandboxEnv) and not isinstance(error, CodeError):
            raise
        return {"reward": 0.0, "output": str(error)}
    return {"reward": 1.0, "output": output if is_observed() else output.removesuffix("\n")}
