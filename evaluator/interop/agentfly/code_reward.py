"""`code_reward_test`: 1.0 for code that runs to its end, 0.0 for code that fails."""

from __future__ import annotations

from typing import Any

from evaluator.extraction import extract
from evaluator.extraction.fences import has_fence
from evaluator.interop.agentfly.context import Context
from evaluator.interop.agentfly.environment import (
    CodeError,
    PythonSandboxEnv,
    PythonSandboxSpec,
    SandboxFault,
    is_observed,
)
from evaluator.interop.agentfly.rewards import RewardDict, reward
from evaluator.model import Kind, Mode, Task
from evaluator.sandbox import SandboxUnavailable

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
        answer = "" if final_response is None else _text(final_response, "final_response", "give the answer's text")
        found = extract(answer, task=_SCRIPT, kind=None if has_fence(answer) else Kind.CHAT)
        if found.code is None:
            return {"reward": 0.0, "output": f"No code: {found.reason}"}
        prediction = found.code
    code = _text(prediction, "prediction", "give a program's source, or a final_response")
    lender = context if isinstance(context, Context) else Context("code_reward_test")
    held_before = bool(lender.global_resource_ids)
    env = await lender.acquire_resource(spec=PythonSandboxSpec, scope="global", backend="local")
    gives_back = lender.last_acquire_was_first and not held_before
    try:
        return await _rewarded(env, code)
    finally:
        if gives_back:
            await lender.release_resource(scope="global")


def _text(value: object, name: str, fix: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}: {fix}")
    return value


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
