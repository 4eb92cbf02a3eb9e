"""The Python environment of rewards and tools: AgentFly's methods and specs on Rollscope's sandbox.

A script runs like `python script.py` with empty stdin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from evaluator.interop.program_run import run_program
from evaluator.model import Limits
from evaluator.sandbox import FaultError, Outcome, Program, Status
from evaluator.workers.single import warm_up

LIMITS = Limits(wall_s=10, cpu_s=8, total_s=18, memory_mb=1024)
"""AgentFly's. On a busy machine a script may run twice: both runs end before AgentFly's client gives up (20 s)."""

OUTPUT_CHARACTERS = 16_384
ERROR_CHARACTERS = 8_192

_TEXTS = {
    Status.TIME: "Execution timed out",
    Status.MEMORY: "Memory limit exceeded",
    Status.OUTPUT: "Output limit exceeded",
}
_PREFIXES = {Status.REJECTED: "Rejected", Status.DIED: "Killed"}


class SandboxFault(RuntimeError):  # noqa: N818 - a state of the machine, as `SandboxUnavailable` is
    """The sandbox itself failed twice: this says nothing about the code, so there is no reward."""


async def run(code: str, limits: Limits = LIMITS) -> Outcome:
    """How a script ended; waits while all sandboxes are in use.

    Raises `SandboxUnavailable` if no sandbox starts, `SandboxFault` if it failed twice, `TypeError` if `code` is not
    `str`.
    """
    if not isinstance(code, str):
        raise TypeError(f"code must be text, not {type(code).__name__}: give a program's source")
    try:
        return await run_program(Program(code), "", limits)
    except FaultError as fault:
        raise SandboxFault(f"the sandbox failed: {fault}; run `rollscope doctor`") from fault


def output_of(outcome: Outcome) -> str:
    """A script's stdout, at most 16,384 characters."""
    return outcome.stdout.text()[:OUTPUT_CHARACTERS]


def error_of(outcome: Outcome) -> str | None:
    """One line such as `NameError: name 'x' is not defined`, at most 8,192 characters; None if it succeeded."""
    status, failure = outcome.status, outcome.failure
    error: str | None
    if status in _PREFIXES:
        error = f"{_PREFIXES[status]}: {outcome.message}"
    elif status not in _TEXTS and failure is not None:
        message = outcome.message or failure.message
        error = f"{failure.type}: {message}" if message else failure.type
    elif status is Status.ANSWERED:
        error = f"SystemExit: {outcome.exit_status}" if outcome.exit_status else None
    else:
        error = _TEXTS.get(status, outcome.message)
    return error and error[:ERROR_CHARACTERS]


def detail_of(outcome: Outcome) -> str:
    """The error as the original's server has it: Python writes an exception's text to stderr with a newline."""
    error = error_of(outcome) or ""
    return f"{error}\n"[:ERROR_CHARACTERS] if outcome.status in (Status.RAISED, Status.NOT_LOADED) else error


# Turns `SystemExit` into an ordinary exception.
_RUN = """\
def _run(source, names):
    try:
        exec(compile(source, 'main.py', 'exec', dont_inherit=True), names)
    except SystemExit as ended:
        raise type('SystemExit', (Exception,), {'__module__': 'builtins'})(ended.code) from None
"""
_observed = ContextVar("observed", default=False)


@contextmanager
def as_observed() -> Iterator[None]:
    """A context in which code is run and rewarded as AgentFly was observed to do, not as documented.

    Holds for the current asyncio task or thread. Within it

    - the output keeps its last newline;
    - an error's text is an output, and earns 1.0; that of an exception ends with a newline;
    - code out of CPU time gives an empty text, out of wall time `Execution timed out`, out of memory
      `Memory limit exceeded`;
    - `SystemExit` is an error whatever its status, `SystemExit: 0` or `SystemExit: None`, and the output is lost;
    - a process ended by a signal, or by `os._exit` with a status other than 0, gives an empty text.

    A failing sandbox still raises; the original gave 0.0.

        with as_observed():
            await code_reward_test(prediction="1 / 0", context=context)  # reward 1.0
    """
    token = _observed.set(True)
    try:
        yield
    finally:
        _observed.reset(token)


def is_observed() -> bool:
    return _observed.get()


@dataclass(frozen=True, kw_only=True)
class ContainerResourceSpec:
    """The kind of a resource, and how many may exist; AgentFly's own specs will do too.

    Rollscope reads `category`, `image` and `max_global_num`. The other fields are for AgentFly's engine alone.
    """

    category: str
    image: str | None = None
    ports: dict[str, int | None] | None = None
    environment: dict[str, str] | None = None
    mount: dict[str, str] | None = None
    container_port: int | None = None
    start_timeout: float | None = None
    host_ip: str | None = None
    max_global_num: int | None = None
    """How many may exist at once, in use or free; None: unlimited."""


PythonSandboxSpec = ContainerResourceSpec(
    category="python_env",
    image="reasonwang/python-http-env:latest",
    ports={"8000/tcp": None},
    container_port=8000,
    start_timeout=60,
    host_ip="127.0.0.1",
    max_global_num=16,
)
"""Runs Python programs in Rollscope's sandbox. AgentFly starts the image; Rollscope never fetches it."""


class CodeError(Exception):
    """The code failed. The message is one line, like a traceback's last: `NameError: name 'x' is not defined`."""


class PythonSandboxEnv:
    """Runs scripts, each in a new process: they share nothing. See the example of `Context`, which acquires one."""

    def __init__(
        self, resource_id: str = "python", spec: ContainerResourceSpec = PythonSandboxSpec, *, limits: Limits = LIMITS
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
        await asyncio.to_thread(warm_up)
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
        observed = is_observed() and isinstance(code, str)
        outcome = await run(f"{_RUN}_run({code!r}, globals())\n" if observed else code, self._limits)
        error = error_of(outcome)
        if error is None:
            return output_of(outcome)
        if not observed:
            raise CodeError(error)
        out_of_cpu = outcome.status is Status.TIME and outcome.cpu_s > self._limits.cpu_s
        return "" if out_of_cpu or outcome.status in (Status.DIED, Status.ANSWERED) else detail_of(outcome)

    async def get_status(self) -> str:
        """`running`, or `stopped` before `start` and after `end`."""
        return "running" if self._started else "stopped"

    async def control(self, **_: object) -> None:
        """Accepts limits and ignores them, as AgentFly's does."""

    async def end(self) -> None:
        self._started = False

    async def close(self) -> None:
        await self.end()
