"""The Python environment that rewards and tools share: AgentFly's methods, Rollscope's sandbox."""

from __future__ import annotations

from functools import partial

from evaluator.interop.agentfly.execution import LIMITS, run, warm_up
from evaluator.interop.agentfly.observed_behaviour import is_observed, observed_source, observed_text
from evaluator.interop.agentfly.specs import PythonSandboxSpec, ResourceSpec
from evaluator.interop.thread_pool import in_pool_thread
from evaluator.model import Limits


class CodeError(Exception):
    """The code failed. Its text is one line, as Python's last: `NameError: name 'x' is not defined`."""


class PythonSandboxEnv:
    """Runs scripts, each in a process of its own: nothing is left between two of them."""

    def __init__(
        self, resource_id: str = "python", spec: ResourceSpec = PythonSandboxSpec, *, limits: Limits = LIMITS
    ) -> None:
        self.resource_id = resource_id
        self.spec = spec
        self._limits = limits
        self._started = False

    @property
    def category(self) -> str:
        return self.spec.category

    async def start(self) -> None:
        """Proves that there is a sandbox, and warms it. Raises `SandboxUnavailable`."""
        await in_pool_thread(warm_up)
        self._started = True

    async def reset(self, *_: object, **__: object) -> str:
        """Nothing is to be done: no code leaves anything. Returns the empty text, as AgentFly's does."""
        return ""

    async def step(self, code: str) -> str:
        """Runs a script and returns what it printed, at most 16,384 characters.

        Raises `CodeError` where the code fails (`as_observed()`: returns the error's text instead), `SandboxFault`
        and `SandboxUnavailable` where the sandbox does, `RuntimeError` before `start` and after `end`.
        """
        if not self._started:
            raise RuntimeError("the environment is not started: await its start() first")
        if is_observed() and isinstance(code, str):
            return observed_text(await in_pool_thread(partial(run, observed_source(code), self._limits)))
        done = await in_pool_thread(partial(run, code, self._limits))
        if done.error is not None:
            raise CodeError(done.error)
        return done.output

    async def get_status(self) -> str:
        """`running`, or `stopped` before `start` and after `end`."""
        return "running" if self._started else "stopped"

    async def control(self, **_: object) -> None:
        """Takes limits and changes none, as AgentFly's does."""

    async def end(self) -> None:
        self._started = False

    async def close(self) -> None:
        await self.end()
