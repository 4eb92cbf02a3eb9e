"""The Python environment of rewards and tools: AgentFly's methods on Rollscope's sandbox."""

from __future__ import annotations

from evaluator.interop.agentfly.execution import LIMITS, run
from evaluator.interop.agentfly.observed_behaviour import is_observed, observed_source, observed_text
from evaluator.interop.agentfly.specs import PythonSandboxSpec, ResourceSpec
from evaluator.interop.program_run import start_sandbox
from evaluator.model import Limits


class CodeError(Exception):
    """The code failed. The message is one line, like a traceback's last: `NameError: name 'x' is not defined`."""


class PythonSandboxEnv:
    """Runs scripts, each in a new process: they share nothing. See the example of `Context`, which acquires one."""

    def __init__(
        self, resource_id: str = "python", spec: ResourceSpec = PythonSandboxSpec, *, limits: Limits = LIMITS
    ) -> None:
        """`resource_id` and `spec` are kept for the engine. `limits`: of one script; 10 s wall, 8 s CPU, 1 GiB."""
        self.resource_id = resource_id
        self.spec = spec
        self._limits = limits
        self._started = False

    @property
    def category(self) -> str:
        return self.spec.category

    async def start(self) -> None:
        """Starts a sandbox. Raises `SandboxUnavailable`."""
        await start_sandbox()
        self._started = True

    async def reset(self, *_: object, **__: object) -> str:
        """Does nothing, since scripts leave nothing. Returns an empty text, as AgentFly's does."""
        return ""

    async def step(self, code: str) -> str:
        """Runs a script (source code) and returns what it printed, at most 16,384 characters.

        Raises `CodeError` if the code fails (within `as_observed()` returns its text), `SandboxFault` or
        `SandboxUnavailable` if the sandbox does, `TypeError` if `code` is not `str`, `RuntimeError` before `start` and
        after `end`.
        """
        if not self._started:
            raise RuntimeError("the environment is not started: await its start() first")
        if is_observed() and isinstance(code, str):
            return observed_text(await run(observed_source(code), self._limits))
        done = await run(code, self._limits)
        if done.error is not None:
            raise CodeError(done.error)
        return done.output

    async def get_status(self) -> str:
        """`running`, or `stopped` before `start` and after `end`."""
        return "running" if self._started else "stopped"

    async def control(self, **_: object) -> None:
        """Accepts limits and ignores them, as AgentFly's does."""

    async def end(self) -> None:
        self._started = False

    async def close(self) -> None:
        await self.end()
