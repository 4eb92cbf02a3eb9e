"""Runs one program as a request of SandboxFusion's `/run_code` describes it, and answers as SandboxFusion does."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from evaluator.interop.program_run import killed_by, return_code, run_program
from evaluator.interop.sandbox_fusion.files import Files
from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Status
from evaluator.workers.worker import FAULTS

LANGUAGE: Final = "python"
_SECOND_RUN_S: Final = 8.0
"""The most that a second run may add, if the machine was too busy for the first: verl waits 10 s more than a run."""
_MOST_MB: Final = 10**9


class Request(msgspec.Struct):
    """A request. Unknown fields are ignored, and `compile_timeout` is not the program's: see `server`."""

    code: str
    language: str
    stdin: str | None = None
    compile_timeout: float = 10
    run_timeout: float = 10
    """Seconds, of wall time and of CPU time."""
    memory_limit_MB: float | None = -1  # noqa: N815 - SandboxFusion's name
    """MiB; 0, less or None: the server's."""
    files: dict[str, str | None] = msgspec.field(default_factory=dict)
    """Base64 by path, written before the run; None is left out."""
    fetch_files: list[str] = msgspec.field(default_factory=list)
    """Paths whose content is in the answer, if the program ends by itself and leaves such a file."""


class CommandResult(msgspec.Struct):
    """How the program ended. Times in seconds; a negative `return_code` is the signal that ended it."""

    status: Literal["Finished", "TimeLimitExceeded"]
    execution_time: float
    return_code: int | None
    """None after a time-out."""
    stdout: str
    stderr: str


class Answer(msgspec.Struct):
    """`Success`: ended with return code 0. `Failed`: another one, or a time-out. `SandboxError`: says nothing about
    the program; the reason is in `message`."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: None = None
    run_result: CommandResult | None = None
    executor_pod_name: None = None
    files: dict[str, str] = msgspec.field(default_factory=dict)


async def run(request: Request, limits: Limits) -> Answer:
    """Runs the program; waits while all sandboxes are in use. Never raises for what the program does.

    `limits`: of what the request does not set. Raises `ValueError` for unusable `files`, `fetch_files` or memory.
    """
    if request.language != LANGUAGE:
        return Answer("SandboxError", f"language {request.language!r} is not supported: this server runs only python")
    files = Files(request.files, request.fetch_files)
    program = Program(request.code, preamble=files.preamble)
    try:
        outcome = await run_program(program, request.stdin or "", _limits(request, limits))
    except FAULTS as fault:
        return Answer("SandboxError", f"the sandbox failed, and the code may be right: {fault}")
    result, fetched = _result(outcome, files)
    return Answer("Success" if result.return_code == 0 else "Failed", run_result=result, files=fetched)


def _limits(request: Request, limits: Limits) -> Limits:
    seconds = request.run_timeout
    memory = request.memory_limit_MB if request.memory_limit_MB and request.memory_limit_MB > 0 else limits.memory_mb
    if memory > _MOST_MB:
        raise ValueError("memory_limit_MB is too large: give MiB, or -1 for the server's limit")
    return msgspec.structs.replace(
        limits,
        wall_s=seconds,
        cpu_s=seconds,
        total_s=seconds + min(seconds, _SECOND_RUN_S),
        memory_mb=memory,
        virtual_mb=max(limits.virtual_mb, memory),
    )


def _result(outcome: Outcome, files: Files) -> tuple[CommandResult, dict[str, str]]:
    stdout, fetched = files.taken_from(outcome.stdout)
    timed_out = outcome.status is Status.TIME
    result = CommandResult(
        status="TimeLimitExceeded" if timed_out else "Finished",
        execution_time=outcome.wall_s,
        return_code=None if timed_out else return_code(outcome),
        stdout=stdout,
        stderr=_stderr(outcome),
    )
    return result, fetched


def _stderr(outcome: Outcome) -> str:
    """What it wrote there, and what Python or the sandbox has to add."""
    text = outcome.stderr.text()
    if outcome.status is Status.NOT_LOADED and outcome.failure is not None and not text:
        places = [f'  File "main.py", line {frame.line}\n    {frame.text}\n' for frame in outcome.failure.frames[-1:]]
        return "".join(places) + f"{outcome.failure.type}: {outcome.failure.message}\n"
    return text if outcome.status is Status.TIME else text + killed_by(outcome)
