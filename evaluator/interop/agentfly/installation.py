"""Puts Rollscope's rewards and Python environment into the AgentFly that is installed beside it."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from evaluator.interop.agentfly.code_reward import code_reward_test
from evaluator.interop.agentfly.environment import CodeError, PythonSandboxEnv
from evaluator.interop.agentfly.rewards import REWARD_REGISTRY
from evaluator.interop.agentfly.specs import PythonSandboxSpec, ResourceSpec

_SOURCE = "github.com/Agent-One-Lab/AgentFly (the package agentfly on PyPI is another project)"


def install() -> list[str]:
    """From here on AgentFly's rollouts are rewarded, and their Python code is run, by Rollscope.

    - Each reward of `REWARD_REGISTRY` is registered with AgentFly, in place of the one that has its name there.
    - `code_reward_test` is also what `agentfly.rewards` has by that name, for modules that import it afterwards.
    - What AgentFly's engine starts for `PythonSandboxSpec` on the backend `local` is Rollscope's sandbox; other
      resources are AgentFly's, as before.

    Returns the names of the rewards. May be called again. Raises `ImportError`, in one line, where AgentFly is not
    installed or can't be imported.
    """
    rewards, base, code, resources = (
        _module(name) for name in ("rewards", "rewards.reward_base", "rewards.code_reward", "resources")
    )
    try:
        register, runners = base.register_reward, resources.ResourceEngine._runners
    except AttributeError as error:
        raise ImportError(f"this agentfly is another version than Rollscope knows ({error}): see {_SOURCE}") from None
    for name, function in REWARD_REGISTRY.items():
        register(name, function)
    rewards.code_reward_test = code.code_reward_test = code_reward_test
    if not isinstance(runners["local"], _Runner):
        runners["local"] = _Runner(runners["local"])
    return sorted(REWARD_REGISTRY)


def _module(name: str) -> Any:
    """One of AgentFly's modules. It imports much, and what that raises is of any kind."""
    try:
        return importlib.import_module(f"agentfly.{name}")
    except Exception as error:
        if getattr(error, "name", None) == "agentfly":
            raise ImportError(f"AgentFly is not installed in this environment: get it from {_SOURCE}") from None
        told = str(error).partition("\n")[0]
        raise ImportError(
            f"agentfly.{name} can't be imported ({type(error).__name__}: {told}): see {_SOURCE}"
        ) from error


class _Environment(PythonSandboxEnv):
    """As AgentFly's tools know it: what is wrong with the code is an answer like any other."""

    async def step(self, code: str) -> str:
        try:
            return await super().step(code)
        except CodeError as error:
            return f"{error}\n"


class _Runner:
    """AgentFly's own runner, but for the Python environment."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    async def start_resource(
        self, spec: ResourceSpec, resource_id: str | None = None, timeout: float | None = None
    ) -> Any:
        if spec.category != PythonSandboxSpec.category:
            return await self._theirs.start_resource(spec, resource_id, timeout=timeout)
        environment = _Environment(resource_id or spec.category, spec)
        async with asyncio.timeout(timeout):
            await environment.start()
        return environment
