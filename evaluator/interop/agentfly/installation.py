"""Makes an AgentFly in the same environment use Rollscope's rewards and Python environment."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from evaluator.interop.agentfly.environment import CodeError, ContainerResourceSpec, PythonSandboxEnv, PythonSandboxSpec
from evaluator.interop.agentfly.rewards import REWARD_REGISTRY, code_reward_test

_SOURCE = "github.com/Agent-One-Lab/AgentFly (the package agentfly on PyPI is another project)"


def install() -> list[str]:
    """Makes AgentFly reward rollouts and run their Python code by Rollscope, from this call on in this process.

    - Each reward of `REWARD_REGISTRY` replaces AgentFly's of the same name.
    - `agentfly.rewards.code_reward_test` is Rollscope's, for modules that import it afterwards.
    - AgentFly's engine starts Rollscope's sandbox for `PythonSandboxSpec` on the backend `local`, nothing else.

    Returns the names of the rewards. Call it before agents are made; calling it again adds rewards registered since.
    Raises `ImportError`, one line, if AgentFly is not installed, fails to import, or is an unknown version.

        from evaluator.interop.agentfly import install
        install()  # ["code_reward_test"]
    """
    rewards, base, code, resources = (
        _module(name) for name in ("rewards", "rewards.reward_base", "rewards.code_reward", "resources")
    )
    try:
        register, runners = base.register_reward, resources.ResourceEngine._runners
    except AttributeError as error:
        raise ImportError(f"Rollscope does not support this version of agentfly ({error}): see {_SOURCE}") from None
    for name, function in REWARD_REGISTRY.items():
        register(name, function)
    rewards.code_reward_test = code.code_reward_test = code_reward_test
    if not isinstance(runners["local"], _Runner):
        runners["local"] = _Runner(runners["local"])
    return sorted(REWARD_REGISTRY)


def _module(name: str) -> Any:
    """One of AgentFly's modules. It imports much, which may raise anything."""
    try:
        return importlib.import_module(f"agentfly.{name}")
    except Exception as error:
        if getattr(error, "name", None) == "agentfly":
            raise ImportError(f"AgentFly is not installed in this environment: get it from {_SOURCE}") from None
        reason = str(error).partition("\n")[0]
        raise ImportError(
            f"agentfly.{name} can't be imported ({type(error).__name__}: {reason}): see {_SOURCE}"
        ) from error


class _Environment(PythonSandboxEnv):
    """Returns an error's text, as AgentFly's tools expect, instead of raising it."""

    async def step(self, code: str) -> str:
        try:
            return await super().step(code)
        except CodeError as error:
            return f"{error}\n"


class _Runner:
    """AgentFly's own runner for all but the Python environment."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    async def start_resource(
        self, spec: ContainerResourceSpec, resource_id: str | None = None, timeout: float | None = None
    ) -> Any:
        if spec.category != PythonSandboxSpec.category:
            return await self._theirs.start_resource(spec, resource_id, timeout=timeout)
        environment = _Environment(resource_id or spec.category, spec)
        async with asyncio.timeout(timeout):
            await environment.start()
        return environment
