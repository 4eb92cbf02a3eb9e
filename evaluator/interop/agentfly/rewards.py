"""Reward functions as AgentFly has them: called by keyword, known by name, each call giving a dict with `reward`."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

RewardDict = dict[str, Any]
"""`reward`, a number, and whatever else a reward function tells."""

Function = Callable[..., Any]

REWARD_REGISTRY: dict[str, BaseReward] = {}
"""Every registered reward, by its name in lower case."""


class BaseReward:
    """A reward function as a class: give it a `name` and a method `call`, sync or async.

    An instance registers itself under its name (else its class's), unless `auto_register` is false. It is called with
    keyword arguments; those that `call` does not name are left out. A sync `call` gives its dict at once, an async one
    is awaited.
    """

    name: str | None = None
    auto_register: bool = True

    def __init__(self, name: str | None = None, *, auto_register: bool | None = None) -> None:
        self.name = name or type(self).name or type(self).__name__
        if self.auto_register if auto_register is None else auto_register:
            register_reward(self.name, self)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The reward: a float, or a dict with `reward`; or an awaitable of one."""
        del args, kwargs
        raise NotImplementedError(f"reward {self.name!r} has no function: define its method call(self, ...)")

    def __call__(self, *positional: object, **given: Any) -> Any:
        """The reward as a dict with `reward`, or an awaitable of it.

        Raises `TypeError` for positional arguments and for missing ones, `ValueError` where the function returns
        neither a finite float nor a dict with one, and what the function raises.
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
    """A function that `@reward` has made a reward of."""

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
    """Makes a reward of a function, sync or async: `@reward`, or `@reward(name="...")`.

    It is registered under its name in lower case; without one, under the function's.
    """
    if callable(name):
        return FunctionReward(name, name.__name__, auto_register=True)

    def decorate(function: Function) -> FunctionReward:
        return FunctionReward(function, name or function.__name__, auto_register=auto_register)

    return decorate


def register_reward(reward_name: str, reward: BaseReward) -> None:
    """Registers under a name, in place of what had it before: a module may be loaded again."""
    REWARD_REGISTRY[reward_name.lower()] = reward


def get_reward_from_name(reward_name: str) -> BaseReward:
    """The reward of that name, in any case. Raises `KeyError`, which lists the names."""
    found = REWARD_REGISTRY.get(reward_name.lower())
    if found is None:
        raise KeyError(f"reward {reward_name!r} is unknown: there are {', '.join(list_available_rewards())}")
    return found


def get_rewards_from_names(reward_names: Iterable[str]) -> list[BaseReward]:
    """The rewards of these names, in their order. Raises `KeyError`."""
    return [get_reward_from_name(name) for name in reward_names]


def list_available_rewards() -> list[str]:
    """The names, in alphabetical order."""
    return sorted(REWARD_REGISTRY)


@dataclass
class RewardResult:
    """A reward as a number, and the rest of what its function told."""

    reward: float
    extras: dict[str, Any] = field(default_factory=dict)


async def calculate_reward(reward_fn: Function, **given: Any) -> RewardResult:
    """Calls any reward function, sync or async, and brings what it returns into one shape; None is 0.0.

    A plain function gets the arguments that it names. Raises `ValueError` for a dict without `reward`, and for what is
    no finite number.
    """
    returned = reward_fn(**(given if _takes_any(reward_fn) else _named(reward_fn, given)))
    if inspect.isawaitable(returned):
        returned = await returned
    name = getattr(reward_fn, "name", None) or getattr(reward_fn, "__name__", type(reward_fn).__name__)
    if isinstance(returned, RewardResult):
        return RewardResult(_number(name, returned.reward), returned.extras)
    if isinstance(returned, Mapping):
        told = _as_dict(name, dict(returned))
        return RewardResult(float(told.pop("reward")), told)
    return RewardResult(_number(name, 0.0 if returned is None else returned))


def _named(function: Function, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the arguments that a function names; its `**kwargs` get nothing."""
    by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    names = {parameter.name for parameter in parameters if parameter.kind in by_keyword}
    return {name: value for name, value in given.items() if name in names}


def _takes_any(function: Function) -> bool:
    """Whether it may be given arguments that it does not name."""
    if isinstance(function, BaseReward):
        return True
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _as_dict(name: str | None, returned: Any) -> RewardDict:
    if isinstance(returned, float):
        return {"reward": _number(name, returned)}
    if not isinstance(returned, dict):
        told = f"reward {name!r} returned {_shown(returned)}: return a float, or a dict with 'reward'"
        raise ValueError(told)  # noqa: TRY004 - as AgentFly does
    if "reward" not in returned:
        keys = ", ".join(map(repr, returned)) or "nothing"
        raise ValueError(f"reward {name!r} returned a dict without 'reward' (it has {keys}): add it")
    _number(name, returned["reward"])
    return returned


def _number(name: str | None, value: Any) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"reward {name!r} is {_shown(value)}: return a finite number")
    return float(value)


def _shown(value: object) -> str:
    plain = value is None or isinstance(value, bool | float)
    return f"{value!r}" if plain else f"{type(value).__name__} {value!r:.60}"
