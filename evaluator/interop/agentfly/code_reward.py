"""`code_reward_test`: 1.0 for code that runs to its end, 0.0 for code that fails."""

from __future__ import annotations

from typing import Any, Protocol

from evaluator.interop.agentfly.environment import CodeError, PythonSandboxEnv
from evaluator.interop.agentfly.execution import SandboxFault
from evaluator.interop.agentfly.observed import is_observed
from evaluator.interop.agentfly.rewards import RewardDict, reward
from evaluator.interop.agentfly.specs import PythonSandboxSpec
from evaluator.sandbox import SandboxUnavailable


class LendsResources(Protocol):
    """What is needed of a context: ours and AgentFly's have it."""

    async def acquire_resource(self, *, spec: Any, scope: Any, backend: str | None) -> Any: ...


@reward(name="code_reward_test")
async def code_reward_test(prediction: str, context: LendsResources) -> RewardDict:
    """Runs a program in the context's Python sandbox: `{"reward": 1.0, "output": what it printed}`, without one newline
    at its end, or `{"reward": 0.0, "output": the error}`, such as `NameError: name 'x' is not defined`.

    `prediction` is source code, not a chat answer: no fences are taken off. An environment that is not Rollscope's
    earns 1.0 with whatever it returns, and 0.0 with whatever it raises.
    Raises `TypeError` for a prediction that is no text, and whatever says nothing about the code: `SandboxFault`,
    `SandboxUnavailable`, and what `context.acquire_resource` raises.
    """
    if not isinstance(prediction, str):
        raise TypeError(f"prediction is {type(prediction).__name__}, not text: give a program's source")
    held_before = bool(getattr(context, "global_resource_ids", None))
    env = await context.acquire_resource(spec=PythonSandboxSpec, scope="global", backend="local")
    is_first = getattr(context, "last_acquire_was_first", False)
    give_back = getattr(context, "release_resource", None) if is_first and not held_before else None
    try:
        return await _rewarded(env, prediction)
    finally:
        if give_back is not None:
            await give_back(scope="global")


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
