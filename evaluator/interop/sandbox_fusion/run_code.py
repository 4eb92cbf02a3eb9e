"""Runs one program as a request of SandboxFusion's `/run_code` describes it, and answers as SandboxFusion does."""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Literal

import msgspec

from evaluator.interop.program_run import killed_by, return_code, run_program
from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Status, Stream
from evaluator.workers.worker import FAULTS

_FOLDER: Final = "/tmp"  # noqa: S108 - the program's own folder in the sandbox
_WRITE: Final = """\
def _write(files):
    import base64, os
    for path, content in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content))
_write({files!r})
del _write
"""
_FETCH: Final = """\
def _fetch(paths, mark):
    import atexit, base64, json, os, sys
    def fetched():
        found = {{}}
        for name, path in paths.items():
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = base64.b64encode(file.read()).decode()
        sys.stdout.flush()
        print(mark, json.dumps(found), sep="", end="", file=sys.__stdout__, flush=True)
    atexit.register(fetched)
_fetch({paths!r}, {mark!r})
del _fetch
"""


class Files:
    """The files that a request sends along and wants back.

    Both happen within the sandbox, before and after the program, in code that is put before it. What it fetches is
    written to stdout after a mark. A program may forge that: it would only change its own files.
    """

    def __init__(self, files: Mapping[str, str | None], fetch_files: Sequence[str]) -> None:
        """As in `Request`. Raises `ValueError` for a path outside the program's folder, or bad base64."""
        self._mark = secrets.token_hex(16)
        written = {_path(name): _base64(name, content) for name, content in files.items() if content is not None}
        paths = {name: _path(name) for name in fetch_files}
        self.preamble = _WRITE.format(files=written) if written else ""
        """Code to put before the program."""
        if paths:
            self.preamble += _FETCH.format(paths=paths, mark=self._mark)
        self._names = frozenset(paths)

    def taken_from(self, stdout: Stream) -> tuple[str, dict[str, str]]:
        """What the program itself wrote to stdout, and the files that were fetched, by name, as base64."""
        before, mark, after = stdout.data.partition(self._mark.encode())
        if not mark:
            return stdout.text(), {}
        try:
            found = msgspec.json.decode(after, type=dict[str, str])
        except msgspec.DecodeError:  # cut off at the output limit
            found = {}
        return Stream(before, len(before)).text(), {name: found[name] for name in found if name in self._names}


def _path(name: str) -> str:
    path = PurePosixPath(_FOLDER, name)
    if ".." in path.parts or path.parts[:2] != ("/", "tmp") or len(path.parts) < 3:
        raise ValueError(f"file {name!r} is not in the program's folder: give a relative path, or one in {_FOLDER}")
    return str(path)


def _base64(name: str, content: str) -> str:
    try:
        base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise ValueError(f"file {name!r} is not base64: {error}") from None
    return content


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
